-- Tables divided by bucket into partitions (O-4). While one is copied, `_whole` is added to the name of the old one.

-- name: list_whole
-- Those of these tables that are in one piece, with their bytes, indexes included. One that is being divided is waited
-- for, and is gone then.
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relname = ANY(%(tables)s::text[]) AND relkind = 'r'
    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND pg_total_relation_size(oid) IS NOT NULL
ORDER BY relname

-- name: list_uncounted
-- Those that are divided and were not counted as a whole for a week.
SELECT relname FROM pg_class
WHERE relname = ANY(%(tables)s::text[]) AND relkind = 'p'
    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND coalesce(pg_stat_get_last_analyze_time(oid), '-infinity') < now() - interval '7 days'
ORDER BY relname

-- name: list_indexes
-- Statements that make the primary key of a table, and its other indexes, anew.
SELECT format('ALTER TABLE %%I ADD CONSTRAINT %%I %%s', %(table)s::text, conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE conrelid = %(table)s::text::regclass AND contype = 'p'
UNION ALL
SELECT pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = %(table)s::text::regclass AND NOT indisprimary

-- name: list_settings
-- Statements that give the partitions the settings of storage of the old table: a table of partitions has none.
SELECT format('ALTER TABLE %%s SET (%%s)', inhrelid::regclass, array_to_string(reloptions, ', '))
FROM pg_inherits CROSS JOIN pg_class
WHERE inhparent = %(table)s::text::regclass AND oid = (%(table)s || '_whole')::regclass AND reloptions IS NOT NULL

-- name: count_blocks
SELECT pg_relation_size((%(table)s || '_whole')::regclass) / current_setting('block_size')::integer
