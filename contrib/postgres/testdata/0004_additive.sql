-- A later version as it may be: nothing that a program of version 1 would notice.
alter table payments add column batch text collate "C";
alter table payments add column priority smallint not null default 0;
alter table history add column worker text;
alter table claims add column hook text not null default '';
create table batches (
	name  text primary key,
	added timestamptz not null default now()
);
create index payments_batch on payments (batch) where batch is not null;
insert into versions (version) values (4);
