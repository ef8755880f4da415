-- The columns of a table or view of this wiki.
SELECT column_name
FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = %(table)s
