CREATE SCHEMA prepaid;
CREATE TABLE prepaid.archive (
    number bigint NOT NULL,
    request_id text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL,
    account_id text NOT NULL,
    amount numeric NOT NULL,
    destination bytea NOT NULL,
    params bytea NOT NULL,
    state text NOT NULL,
    began timestamp with time zone,
    changed timestamp with time zone NOT NULL,
    first_sent timestamp with time zone,
    last_sent timestamp with time zone,
    not_before timestamp with time zone,
    attempts integer NOT NULL,
    runs integer NOT NULL,
    transaction_id text,
    correlation_id text,
    code text,
    resolved boolean NOT NULL,
    CONSTRAINT archive_state_check CHECK ((state = ANY (ARRAY['done'::text, 'rejected'::text, 'withdrawn'::text])))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');
CREATE TABLE prepaid.payments (
    number bigint NOT NULL,
    request_id text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL,
    account_id text NOT NULL,
    amount numeric NOT NULL,
    destination bytea NOT NULL,
    params bytea NOT NULL,
    sealed bytea,
    state text NOT NULL,
    lease bigint DEFAULT 0 NOT NULL,
    due timestamp with time zone,
    sends_until timestamp with time zone,
    enqueued timestamp with time zone DEFAULT now() NOT NULL,
    began timestamp with time zone,
    changed timestamp with time zone DEFAULT now() NOT NULL,
    first_sent timestamp with time zone,
    last_sent timestamp with time zone,
    not_before timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    runs integer DEFAULT 0 NOT NULL,
    idle integer DEFAULT 0 NOT NULL,
    transaction_id text,
    correlation_id text,
    code text,
    resolved boolean DEFAULT false NOT NULL,
    review text,
    hook_due timestamp with time zone,
    hook_tries integer DEFAULT 0 NOT NULL,
    CONSTRAINT payments_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT payments_none_left_out CHECK (((due IS NULL) = ((state = ANY (ARRAY['done'::text, 'rejected'::text, 'withdrawn'::text])) OR (review IS NOT NULL)))),
    CONSTRAINT payments_operation_check CHECK ((operation = ANY (ARRAY['Accounts.Transfer'::text, 'Accounts.DirectEntryOut'::text]))),
    CONSTRAINT payments_sealed CHECK (((sealed IS NULL) = (state = ANY (ARRAY['done'::text, 'withdrawn'::text])))),
    CONSTRAINT payments_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'intended'::text, 'not_sent'::text, 'unknown'::text, 'done'::text, 'rejected'::text, 'withdrawn'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='10000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE VIEW prepaid.all_payments AS
 SELECT payments.number,
    payments.request_id,
    payments.operation,
    payments.account_id,
    payments.amount,
    payments.destination,
    payments.params,
    payments.state,
    payments.began,
    payments.changed,
    payments.first_sent,
    payments.last_sent,
    payments.not_before,
    payments.attempts,
    payments.runs,
    payments.transaction_id,
    payments.correlation_id,
    payments.code,
    payments.resolved,
    payments.review
   FROM prepaid.payments
UNION ALL
 SELECT archive.number,
    archive.request_id,
    archive.operation,
    archive.account_id,
    archive.amount,
    archive.destination,
    archive.params,
    archive.state,
    archive.began,
    archive.changed,
    archive.first_sent,
    archive.last_sent,
    archive.not_before,
    archive.attempts,
    archive.runs,
    archive.transaction_id,
    archive.correlation_id,
    archive.code,
    archive.resolved,
    NULL::text AS review
   FROM prepaid.archive;
CREATE TABLE prepaid.claims (
    id text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL,
    ends timestamp with time zone NOT NULL,
    handled boolean NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='10000');
CREATE TABLE prepaid.history (
    payment bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    lease bigint NOT NULL,
    event text NOT NULL,
    state text NOT NULL,
    code text,
    attempts integer NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');
ALTER TABLE prepaid.payments ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME prepaid.payments_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE prepaid.rate_limits (
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    state json NOT NULL
);
CREATE TABLE prepaid.versions (
    version integer NOT NULL,
    applied timestamp with time zone DEFAULT now() NOT NULL,
    checksum text
);
INSERT INTO prepaid.history VALUES (1, '2026-11-24 05:05:56.913947+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (1, '2026-11-24 05:05:56.921199+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (1, '2026-11-24 05:05:56.926193+00', 1, 'end', 'unknown', NULL, 1);
INSERT INTO prepaid.history VALUES (2, '2026-11-24 05:05:56.936231+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (2, '2026-11-24 05:05:56.937924+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (2, '2026-11-24 05:05:56.941214+00', 1, 'end', 'unknown', NULL, 1);
INSERT INTO prepaid.history VALUES (3, '2026-11-24 05:05:56.9499+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (3, '2026-11-24 05:05:56.951245+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (3, '2026-11-24 05:05:56.956794+00', 1, 'end', 'done', NULL, 0);
INSERT INTO prepaid.history VALUES (4, '2026-11-24 05:05:56.963124+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (4, '2026-11-24 05:05:56.972667+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (4, '2026-11-24 05:05:56.977453+00', 1, 'end', 'rejected', 'invalid_request', 1);
INSERT INTO prepaid.history VALUES (5, '2026-11-24 05:05:56.979117+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (5, '2026-11-24 05:05:56.991734+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (5, '2026-11-24 05:05:57.001028+00', 1, 'end', 'rejected', 'invalid_request', 1);
INSERT INTO prepaid.history VALUES (6, '2026-11-24 05:05:57.013885+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.history VALUES (6, '2026-11-24 05:05:57.023129+00', 1, 'begin', 'intended', NULL, 0);
INSERT INTO prepaid.history VALUES (6, '2026-11-24 05:05:57.032515+00', 1, 'end', 'unknown', NULL, 1);
INSERT INTO prepaid.history VALUES (5, '2026-11-24 05:05:57.059986+00', 2, 'withdraw', 'withdrawn', 'invalid_request', 1);
INSERT INTO prepaid.history VALUES (1, '2026-11-24 05:05:57.071686+00', 2, 'resolve', 'done', NULL, 1);
INSERT INTO prepaid.history VALUES (2, '2026-11-24 05:05:57.08181+00', 2, 'resolve', 'rejected', NULL, 1);
INSERT INTO prepaid.history VALUES (7, '2026-11-24 05:05:57.110816+00', 0, 'enqueue', 'queued', NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (3, 'old-done', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\x4f298406c23806602e111178cb6fdb916266724b4f95fc76098c8576062c1cc0', NULL, 'done', 1, NULL, NULL, '2026-11-24 05:05:56.9499+00', '2026-11-24 05:05:56.951245+00', '2026-11-24 05:05:56.956794+00', NULL, NULL, NULL, 0, 1, 0, '1', 'c', NULL, false, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (4, 'old-rejected', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\xa6e85b85fea73b566219b5fab9f1b93b9b09afcba509700f9e6a4b5514d9bd3d', '\x01eb386c4e698a682d02748e3d0d3142da4a2481fbceae4792677b458bf00e5528e8730d7731e4a25e5a5a6b01da0965c5cc3a00d09d3f1dfe197ff59daf009afe1a6607040f7d73f16e2779a7e090600334e42305bb4c6487093f306662b64f1ab8f56a6761dc1f7f0d1641a8390ae38c22922ca2e7956bd42aaf1c9cd8e36f4e0af5a03be3b8a283b1cc13f73340b0f47431d6b1de035f72d313434b60231f9ce9ffb941696a4713d20ec3167b464a14114347e5b5f954', 'rejected', 1, NULL, NULL, '2026-11-24 05:05:56.963124+00', '2026-11-24 05:05:56.972667+00', '2026-11-24 05:05:56.977453+00', '2026-11-24 05:05:56.977419+00', '2026-11-24 05:05:56.977419+00', NULL, 1, 1, 0, NULL, NULL, 'invalid_request', false, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (6, 'old-unknown', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\x3f8b7f66fa07e9f6e09bf3808d473fe1fd30e6691e4822fcff6b896cd81c8aef', '\x01eb386c4ee732f3ba26fe65c93e4dd84d9eebadd1fd22bdf77c1a0c5e74848a7b66847ebcd961dac04375374c69ca8cc9b55dcf1613ac8064399cbee60b0be401c8ed12736392ad31c208ab5762bacc8af4f047bd95a0f101b81d9c3f4312680953bc7c5f7aee5ce9d7f4ae8ccfcaddb89c36613372e643da3105844783f23ef7a2a464e9fea4dee6102611d79cada9d8d9b8476edc38783e8653e02661a8ffbb6c969a710faedada84cd8f4066a16aa2cacac20bc3df', 'unknown', 1, '2026-11-24 06:05:57.032507+00', NULL, '2026-11-24 05:05:57.013885+00', '2026-11-24 05:05:57.023129+00', '2026-11-24 05:05:57.032515+00', '2026-11-24 05:05:57.032486+00', '2026-11-24 05:05:57.032486+00', '2026-11-24 06:05:57.032485+00', 1, 1, 1, NULL, NULL, NULL, false, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (5, 'old-withdrawn', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\x5b09babe1727fc0680bfb5b4e202c378c9025e13390279538a745cedb4838e1e', NULL, 'withdrawn', 2, NULL, NULL, '2026-11-24 05:05:56.979117+00', '2026-11-24 05:05:56.991734+00', '2026-11-24 05:05:57.059986+00', '2026-11-24 05:05:57.000997+00', '2026-11-24 05:05:57.000997+00', NULL, 1, 1, 0, NULL, NULL, 'invalid_request', false, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (1, 'old-moved', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\xb4b2101cecd73555e403b2691342b528cf9e29fe7f735cb84f29ff327081423b', NULL, 'done', 2, NULL, NULL, '2026-11-24 05:05:56.913947+00', '2026-11-24 05:05:56.921199+00', '2026-11-24 05:05:57.071686+00', '2026-11-24 05:05:56.926174+00', '2026-11-24 05:05:56.926174+00', NULL, 1, 1, 0, '77', NULL, NULL, true, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (2, 'old-not-moved', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\xb32229be2642e2f778de0699aa65c18ab2c87dfefd8fc8f25b8b19537cfde8f1', '\x01eb386c4ec5e3bc8145bcc47cd0cf260efe2e61de3667a0fd9a5ba79e19679ab44c0a2f3becfce4d0a664c09cc30f428db90759b12d8b22f54d05a98a2b50aa2ad1fd366c071dd824120bd11c22d1283a5e6826b995af8af240d2facb759048ef83ebd56e07ab2eebbc857cbb3a418af95326a1d1a25f2fadb91d91df07140f29bab8064d622eec1e9cdc43d4fef13ae836ee6e433b80d8d339188f877cd261975f725dddc1ac60b86e523a3073895e84d47f71b1a64fbaed', 'rejected', 2, NULL, NULL, '2026-11-24 05:05:56.936231+00', '2026-11-24 05:05:56.937924+00', '2026-11-24 05:05:57.08181+00', '2026-11-24 05:05:56.941199+00', '2026-11-24 05:05:56.941199+00', '2026-11-24 06:05:56.941198+00', 1, 1, 0, NULL, NULL, NULL, true, NULL, NULL, 0);
INSERT INTO prepaid.payments OVERRIDING SYSTEM VALUE VALUES (7, 'old-queued', 'Accounts.Transfer', 'EA1', 10.00, '\x69d2050190135a064a330b0cbdbd24d8f1b9489dd6df0a8f284b61c64ace7912', '\x5a53e79be2ed49a2deb88ae3d0bd55cab977eb18857e52b19dcf2dc020a253b5', '\x01eb386c4eb49def79b40841c926b126e64b2421da616c7df3e97325855506e9f0cf3a90315dcc12d18ca4e29644a4417cc0dc29fa099993d10e3db0b15976a319f5bc2d049576f18fb695f267e580b5e27e208dc5dd088b199bc41caf07f387c4f22f4581b162b18aa3b761d51ef404115cdda1ef5d472423be7f6901a1b25adf60fed6ce2e3cc13fb0af5bdc66717c772418b46b73e6ff91a50c914172635a79a90f807ae4ae11775569ce8cdfeb3cae8aab3a44b3', 'queued', 0, '2026-11-24 05:05:57.110816+00', NULL, '2026-11-24 05:05:57.110816+00', NULL, '2026-11-24 05:05:57.110816+00', NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, false, NULL, NULL, 0);
INSERT INTO prepaid.versions VALUES (1, '2026-11-24 05:05:56.752274+00', 'c8efc5818bf5081240493af8de85d5b5d7e9aff01a2ac0380b0b1bd1543ea5ec');
SELECT pg_catalog.setval('prepaid.payments_number_seq', 7, true);
ALTER TABLE ONLY prepaid.archive
    ADD CONSTRAINT archive_pkey PRIMARY KEY (request_id);
ALTER TABLE ONLY prepaid.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (id);
ALTER TABLE ONLY prepaid.payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (request_id);
ALTER TABLE ONLY prepaid.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (name, version);
ALTER TABLE ONLY prepaid.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (version);
CREATE INDEX archive_changed ON prepaid.archive USING brin (changed);
CREATE INDEX claims_ends ON prepaid.claims USING btree (ends);
CREATE INDEX history_payment ON prepaid.history USING btree (payment);
CREATE INDEX payments_due ON prepaid.payments USING btree (due) WHERE (due IS NOT NULL);
CREATE INDEX payments_hook ON prepaid.payments USING btree (hook_due) WHERE (hook_due IS NOT NULL);
CREATE INDEX payments_rest ON prepaid.payments USING btree (state, changed) INCLUDE (amount) WHERE (due IS NULL);
CREATE INDEX payments_review ON prepaid.payments USING btree (changed) WHERE (review IS NOT NULL);
