-- Version 2: the server from which workers send payments. After a failover a server may lack the last commits: see Store.Recover.
alter table versions
	add column server text, -- system identifier and timeline; only in the row of this version
	add column evidence text, -- what workers know about the service's responses; only in the row of this version
	add column epoch uuid; -- new with each Recover: workers that began before it stop

insert into versions (version, server, epoch)
	select 2, system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8), gen_random_uuid() from pg_control_system();
