-- All that a database of ours consists of.
SELECT 'column', c.relname, a.attnum::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text,
    a.attidentity::text, a.attgenerated::text, coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attcollation::text
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
    AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'relation', relname, relkind::text, array_to_string(reloptions, ','), relpersistence::text, '', '', '', '', ''
FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'index', tablename, indexname, indexdef, '', '', '', '', '', '' FROM pg_indexes WHERE schemaname = 'public'
UNION ALL
SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', '', '', '', '', ''
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL
SELECT 'view', viewname, definition, '', '', '', '', '', '', '' FROM pg_views WHERE schemaname = 'public'
UNION ALL
SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), '', '', '', '', '', ''
FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'function', proname, pg_get_functiondef(oid), '', '', '', '', '', '', ''
FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')
UNION ALL
SELECT 'type', typname, typtype::text, '', '', '', '', '', '', ''
FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r')
ORDER BY 1, 2, 3, 4
