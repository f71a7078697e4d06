-- Version 1 of the tables of prepaidpg.
--
-- Names are not qualified: execute this with search_path set to one schema that exists, and to nothing else, in one
-- transaction. prepaidpg.Migrate does that, or your own tool; see the package's documentation.

-- Which versions have been applied. Each file ends with its own row, so that it is there whichever tool applied the file.
create table versions (
	version  integer primary key,
	applied  timestamptz not null default now(),
	checksum text -- SHA-256 of the file, in hex, if Migrate applied it
);

-- One row per request ID. What a worker may do with a row follows from journal.State; a test compares the lists of states.
create table payments (
	number         bigint generated always as identity, -- key of the history: small, and in order of arrival
	request_id     text collate "C" primary key,
	operation      text not null check (operation in ('Accounts.Transfer', 'Accounts.DirectEntryOut')),
	account_id     text not null, -- that pays
	amount         numeric not null check (amount > 0),
	destination    bytea not null, -- keyed digest
	params         bytea not null, -- keyed digest
	sealed         bytea, -- params under the caller's AEAD, until they are not needed any more
	state          text not null check (state in ('queued', 'intended', 'not_sent', 'unknown', 'done', 'rejected', 'withdrawn')),
	lease          bigint not null default 0, -- number of the claim: it fences outcomes
	due            timestamptz, -- when it may be claimed; null: settled, or a person must decide
	sends_until    timestamptz, -- when the holder of the lease can no longer send; null: nobody holds it
	enqueued       timestamptz not null default now(),
	began          timestamptz, -- first intended
	changed        timestamptz not null default now(), -- of this state
	first_sent     timestamptz,
	last_sent      timestamptz,
	not_before     timestamptz,
	attempts       integer not null default 0,
	runs           integer not null default 0,
	idle           integer not null default 0, -- claims in a row that sent nothing: due moves away with it
	transaction_id text,
	correlation_id text,
	code           text,
	resolved       boolean not null default false,
	review         text, -- why a person must decide
	hook_due       timestamptz, -- when Settled is to be called; null: it has been
	hook_tries     integer not null default 0,
	constraint payments_none_left_out check ((due is null) = (state in ('done', 'rejected', 'withdrawn') or review is not null)),
	constraint payments_sealed check ((sealed is null) = (state in ('done', 'withdrawn')))
) with (
	-- Each payment is updated twice or three times, and the index of what is due must not fill with the dead entries of
	-- what was due: vacuum often, without pauses, by count and not by share of a table that keeps growing.
	fillfactor = 70,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
	autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
);

-- Each index has only the rows of its question, so that settled rows cost nothing.
create index payments_due on payments (due) where due is not null;
create index payments_rest on payments (state, changed) include (amount) where due is null;
create index payments_review on payments (changed) where review is not null;
create index payments_hook on payments (hook_due) where hook_due is not null;

-- What happened to a payment. Rows are only added. No foreign key: it would lock the payment's row.
create table history (
	payment  bigint not null, -- payments.number
	at       timestamptz not null default now(),
	lease    bigint not null,
	event    text not null, -- enqueue, begin, end, give back, late, resolve, withdraw, retry
	state    text not null, -- after it
	code     text,
	attempts integer not null
) with (autovacuum_vacuum_insert_scale_factor = 0.05);
create index history_payment on history (payment);

-- Settled payments whose request ID nobody can send any more; see Store.Archive. It has neither sealed params nor what
-- workers need.
create table archive (
	number         bigint not null,
	request_id     text collate "C" primary key,
	operation      text not null,
	account_id     text not null,
	amount         numeric not null,
	destination    bytea not null,
	params         bytea not null,
	state          text not null check (state in ('done', 'rejected', 'withdrawn')),
	began          timestamptz,
	changed        timestamptz not null,
	first_sent     timestamptz,
	last_sent      timestamptz,
	not_before     timestamptz,
	attempts       integer not null,
	runs           integer not null,
	transaction_id text,
	correlation_id text,
	code           text,
	resolved       boolean not null
) with (autovacuum_vacuum_insert_scale_factor = 0.05);
create index archive_changed on archive using brin (changed); -- for retention

-- Every payment, whether archived or not, without what workers need.
create view all_payments as
	select number, request_id, operation, account_id, amount, destination, params, state, began, changed, first_sent,
		last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved, review
	from payments
	union all
	select number, request_id, operation, account_id, amount, destination, params, state, began, changed, first_sent,
		last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved, null
	from archive;

-- Webhook messages that are being handled, or were. See NewClaims.
create table claims (
	id      text collate "C" primary key,
	token   text not null, -- of the holder: it fences
	ends    timestamptz not null, -- of the lease, or of remembering
	handled boolean not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index claims_ends on claims (ends);

-- What replicas know of one another's share of a rate limit: one row per address, replaced by each exchange. With the
-- version in the key, the newest row is found at once however many dead ones a long transaction elsewhere keeps.
create table rate_limits (
	name    text collate "C" not null,
	version bigint not null,
	state   json not null,
	primary key (name, version)
);

insert into versions (version) values (1);
