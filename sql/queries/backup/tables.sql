-- Backup and restore (O-9): what is in a store before, and what is set right after.

-- name: find_schema
SELECT coalesce(current_schema(), 'public')

-- name: list_tables
-- With their bytes and rows as the last ANALYZE or vacuum saw them: measuring a table would wait for its locks. The last
-- column is the table of which it is a partition (weboid store partition), else itself.
SELECT main.relname, (greatest(main.relpages, 0) + coalesce(toast.relpages, 0)) * current_setting('block_size')::bigint,
    greatest(main.reltuples, 0)::bigint, coalesce(parent.relname, main.relname)
FROM pg_class AS main LEFT JOIN pg_class AS toast ON toast.oid = main.reltoastrelid
LEFT JOIN pg_inherits ON inhrelid = main.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
WHERE main.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND main.relkind IN ('r', 'p')
ORDER BY main.relname

-- name: begin_snapshot
-- The moment by the database's clock, the snapshot for pg_dump, the server's version.
SELECT now(), pg_export_snapshot(), current_setting('server_version_num')::integer

-- name: find_migration
SELECT max(number) FROM migration

-- name: find_copying
-- What pg_dump, which shows itself by this name, is reading: the table, and how many rows of it are done.
SELECT pg_class.relname, tuples_processed
FROM pg_stat_progress_copy JOIN pg_stat_activity USING (pid) JOIN pg_class ON pg_class.oid = relid
WHERE application_name = %(name)s

-- name: list_others
-- The other programs of Weboid that are connected to this database.
SELECT DISTINCT coalesce(substring(application_name FROM '^weboid \S+ (.+)$'), application_name) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'weboid %%'
    AND application_name !~ 'restore$'
ORDER BY 1

-- name: lock_migrations
-- As every program does at its start (store/db/migrate): none starts in the meantime.
SELECT pg_advisory_xact_lock(hashtextextended('weboid migration', 0))

-- name: delete_turns
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
DELETE FROM slot

-- name: delete_parts
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
DELETE FROM part

-- name: record_leases_free
-- With a new epoch: no worker of before may write.
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
UPDATE lease SET worker = '', epoch = epoch + 1, until = '-infinity'

-- name: record_queue_free
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
UPDATE copy_queue SET until = '-infinity' WHERE until > '-infinity'

-- name: count_overdue
-- fan-out: once after a restore, all of the table. Copies that pages cite are never due here.
SELECT due, count(*) FROM url WHERE orphaned IS NULL AND due <= %(day)s GROUP BY due

-- name: count_urls
-- fan-out: once after a restore, all of the table.
SELECT count(*) FROM url WHERE orphaned IS NULL AND due < 32767

-- name: record_spread
-- fan-out: once after a restore, all that is overdue. By the URL's key it is decided on which of the days it is due.
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
UPDATE url SET due = given.first + mod(url_key & 2147483647, given.days)
FROM unnest(%(due)s::smallint[], %(first)s::smallint[], %(days)s::smallint[]) AS given (due, first, days)
WHERE url.due = given.due AND orphaned IS NULL AND given.first + mod(url_key & 2147483647, given.days) > %(day)s

-- name: record_next_days
-- fan-out: once after a restore, the hosts of what was spread.
-- under lock: backup/tables lock_migrations, since nothing else runs during a restore.
UPDATE host SET next_day = first.due
FROM (SELECT bucket, host_key, min(due) AS due FROM url WHERE orphaned IS NULL GROUP BY bucket, host_key) AS first
WHERE host.bucket = first.bucket AND host.host_key = first.host_key
    AND host.next_day <= %(day)s AND host.next_day < first.due
