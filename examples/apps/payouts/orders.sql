-- The tables of the application. Those of the payments are in a schema of their own.

-- Accounts that orders may pay. The constraint is checked at the commit.
create table if not exists payees (
  account_id text primary key
);

create table if not exists orders (
  id         text        primary key,
  account_id text        not null references payees deferrable initially deferred,
  amount     numeric     not null check (amount > 0),
  request_id text        not null unique, -- of its payment, and never another one
  state      text        not null default 'ordered',
  ordered    timestamptz not null default now()
);

-- The books. Rows are only added: a sum in one row per payee would have the workers wait for each other.
create table if not exists postings (
  request_id     text        primary key references orders (request_id),
  account_id     text        not null,
  amount         numeric     not null,
  transaction_id text        not null,
  booked         timestamptz not null default now()
);
