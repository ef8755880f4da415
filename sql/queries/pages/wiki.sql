-- Farms and wikis (P-1), and the page that says which wikis are watched ([feed] watched).

-- name: record_farms
INSERT INTO farm (farm, name)
SELECT * FROM unnest(%(farm)s::smallint[], %(name)s::text[]) AS given (farm, name)
ORDER BY farm
ON CONFLICT (farm) DO UPDATE SET name = excluded.name WHERE farm.name <> excluded.name

-- name: record_wiki
INSERT INTO wiki (farm, dbname, api, article)
VALUES (%(farm)s, %(dbname)s, %(api)s, %(article)s)
ON CONFLICT (farm, dbname) DO UPDATE
SET api = coalesce(excluded.api, wiki.api), article = coalesce(excluded.article, wiki.article)
RETURNING wiki, farm, dbname, api, article, passed, passed - coalesce(pass_days, 0)::smallint

-- name: find_wiki
SELECT wiki, farm, dbname, api, article, passed, passed - coalesce(pass_days, 0)::smallint FROM wiki WHERE farm = %(farm)s AND dbname = %(dbname)s

-- name: list_wikis
SELECT wiki, farm, dbname, api, article, passed, passed - coalesce(pass_days, 0)::smallint FROM wiki ORDER BY farm, dbname

-- name: record_pass
UPDATE wiki SET passed = %(day)s WHERE wiki = %(wiki)s AND passed IS DISTINCT FROM %(day)s

-- name: list_namespaces
SELECT namespace, name, is_alias, is_cased FROM namespace WHERE wiki = %(wiki)s ORDER BY namespace, name

-- name: lock_namespaces
-- One at a time may replace the names of a wiki.
SELECT FROM wiki WHERE wiki = %(wiki)s FOR NO KEY UPDATE

-- name: record_namespaces
-- under lock: pages/wiki lock_namespaces, by the same transaction.
WITH given AS (
    SELECT * FROM unnest(%(namespace)s::integer[], %(name)s::text[], %(is_alias)s::boolean[], %(is_cased)s::boolean[])
        AS given (namespace, name, is_alias, is_cased)
), gone AS (
    DELETE FROM namespace WHERE wiki = %(wiki)s AND name NOT IN (SELECT name FROM given)
)
INSERT INTO namespace (wiki, namespace, name, is_alias, is_cased)
SELECT %(wiki)s, namespace, name, is_alias, is_cased FROM given
ON CONFLICT (wiki, name) DO UPDATE
SET namespace = excluded.namespace, is_alias = excluded.is_alias, is_cased = excluded.is_cased
WHERE (namespace.namespace, namespace.is_alias, namespace.is_cased)
    IS DISTINCT FROM (excluded.namespace, excluded.is_alias, excluded.is_cased)

-- name: find_watch_list
SELECT source, text, fault, extract(epoch FROM clock_timestamp() - seen)::float
FROM watch_list WHERE source = %(source)s

-- name: record_watch_list
INSERT INTO watch_list (source, seen, text, fault)
VALUES (%(source)s, clock_timestamp(), CASE WHEN %(fault)s::text = '' THEN %(text)s::text END, %(fault)s)
ON CONFLICT (source) DO UPDATE
SET seen = excluded.seen,
    fault = excluded.fault,
    text = CASE WHEN excluded.fault = '' THEN excluded.text ELSE watch_list.text END
