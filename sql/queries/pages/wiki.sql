-- Farms and wikis (P-1).

-- name: record_farms
INSERT INTO farm (farm, name)
SELECT * FROM unnest(%(farm)s::smallint[], %(name)s::text[])
ON CONFLICT (farm) DO UPDATE SET name = excluded.name WHERE farm.name <> excluded.name

-- name: record_wiki
INSERT INTO wiki (farm, dbname, api, article)
VALUES (%(farm)s, %(dbname)s, %(api)s, %(article)s)
ON CONFLICT (farm, dbname) DO UPDATE
SET api = coalesce(excluded.api, wiki.api), article = coalesce(excluded.article, wiki.article)
RETURNING wiki, farm, dbname, api, article, passed

-- name: find_wiki
SELECT wiki, farm, dbname, api, article, passed FROM wiki WHERE farm = %(farm)s AND dbname = %(dbname)s

-- name: list_wikis
SELECT wiki, farm, dbname, api, article, passed FROM wiki ORDER BY farm, dbname

-- name: record_pass
UPDATE wiki SET passed = %(day)s WHERE wiki = %(wiki)s AND passed IS DISTINCT FROM %(day)s
