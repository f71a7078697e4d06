-- Version 3: while the service is down, a claim reads no payment that waits for it. The index has no payment of unknown outcome.
create index payments_sendable on payments (due) where due is not null and not (resolved or state in ('intended', 'unknown'));

insert into versions (version) values (3);
