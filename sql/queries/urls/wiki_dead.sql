-- What is dead for wikis with rules of their own, and their lines of the log (U-10, U-11).

-- name: find_rules
SELECT wiki, rules FROM wiki_rule WHERE wiki = ANY(%(wikis)s::integer[])

-- name: list_rules
SELECT wiki, applied FROM wiki_rule ORDER BY wiki

-- name: record_rules
-- Returns no row if the wiki had these rules before. Its own log begins with its first rules.
INSERT INTO wiki_rule (wiki, rules, begins)
SELECT %(wiki)s, %(rules)s, CASE WHEN is_called THEN last_value ELSE 0 END FROM change_change_seq
ON CONFLICT (wiki) DO UPDATE SET rules = excluded.rules, applied = false
WHERE wiki_rule.rules <> excluded.rules
RETURNING wiki

-- name: record_applied
UPDATE wiki_rule SET applied = true WHERE wiki = %(wiki)s

-- name: delete_rules
-- Once no dead link differs any more from the rule of all.
-- fan-out: by wiki, in an index of the few that differ.
DELETE FROM wiki_rule WHERE wiki = %(wiki)s
    AND NOT EXISTS (SELECT FROM dead WHERE dead.wiki = %(wiki)s AND rule <> 0)

-- name: list_uses
-- The wikis with rules of their own that use these URLs; each with whether the URL is dead by its log.
WITH used AS MATERIALIZED (
    SELECT wiki_rule.wiki, given.bucket, given.host_key, given.url_key, begins
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    CROSS JOIN wiki_rule
    CROSS JOIN LATERAL (
        SELECT FROM link
        WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
            AND link.wiki = wiki_rule.wiki
        LIMIT 1
    ) AS use
    WHERE %(wiki)s::integer IS NULL OR wiki_rule.wiki = %(wiki)s::integer
)
SELECT used.wiki, used.bucket, used.host_key, used.url_key, newest.after IS NOT DISTINCT FROM 3
FROM used
LEFT JOIN LATERAL (
    SELECT after FROM change
    WHERE change.bucket = used.bucket AND change.host_key = used.host_key AND change.url_key = used.url_key
        AND CASE WHEN change.change > begins THEN change.wiki = used.wiki ELSE change.wiki = 0 END
    ORDER BY change DESC
    LIMIT 1
) AS newest ON true

-- name: record_dead
-- Returns the links that were not dead for their wikis before.
-- under lock: urls/check record_checks, or lock_urls, of the same URLs before.
INSERT INTO dead (wiki, page, bucket, host_key, url_key, since, rule)
SELECT given.wiki, link.page, given.bucket, given.host_key, given.url_key, given.since, 2
FROM unnest(%(wiki)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(since)s::smallint[]) AS given (wiki, bucket, host_key, url_key, since)
JOIN link USING (wiki, bucket, host_key, url_key)
ON CONFLICT (wiki, page, bucket, host_key, url_key) DO UPDATE SET rule = 0 WHERE dead.rule = 1
RETURNING wiki, page, bucket, host_key, url_key

-- name: record_alive
-- under lock: urls/check record_checks, or lock_urls, of the same URLs before.
UPDATE dead SET rule = 1
FROM unnest(%(wiki)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (wiki, bucket, host_key, url_key)
JOIN link USING (wiki, bucket, host_key, url_key)
WHERE dead.wiki = given.wiki AND dead.page = link.page AND dead.bucket = given.bucket
    AND dead.host_key = given.host_key AND dead.url_key = given.url_key AND dead.rule = 0

-- name: delete_dead
-- under lock: urls/check record_checks, or lock_urls, of the same URLs before.
DELETE FROM dead
USING unnest(%(wiki)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (wiki, bucket, host_key, url_key)
JOIN link USING (wiki, bucket, host_key, url_key)
WHERE dead.wiki = given.wiki AND dead.page = link.page AND dead.bucket = given.bucket
    AND dead.host_key = given.host_key AND dead.url_key = given.url_key AND dead.rule = 2

-- name: list_suspects
-- Of these URLs those that may be dead for a wiki with rules of its own, or are so by its log.
WITH known AS MATERIALIZED (
    SELECT given.*, url.status, begins
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    CROSS JOIN wiki_rule
    CROSS JOIN LATERAL (
        SELECT status FROM url
        WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
        LIMIT 1
    ) AS url
    WHERE wiki_rule.wiki = %(wiki)s
)
SELECT bucket, host_key, url_key FROM known
WHERE status >= 16 OR 3 = (
    SELECT after FROM change
    WHERE change.bucket = known.bucket AND change.host_key = known.host_key AND change.url_key = known.url_key
        AND CASE WHEN change.change > begins THEN change.wiki = %(wiki)s ELSE change.wiki = 0 END
    ORDER BY change DESC
    LIMIT 1
)

-- name: list_dead_of_pages
-- fan-out: by wiki and page, ranges of the primary key; a wiki's dead links are in all buckets.
SELECT page, bucket, host_key, url_key, rule <> 1 FROM dead
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: list_own
-- The next dead links of a wiki whose state may differ from the rule of all.
-- fan-out: by wiki and page, a range of an index of the few that differ.
SELECT page, bucket, host_key, url_key, rule <> 1 FROM dead
WHERE wiki = %(wiki)s AND rule <> 0
    AND (page, bucket, host_key, url_key) > (%(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
ORDER BY page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_of_hosts
-- The next URLs of a range of hosts that a wiki uses, each with whether all its links there are shown as dead.
-- fan-out: a range of names in any buckets.
SELECT reversed, bucket, host_key, url_key, NOT EXISTS (
        SELECT FROM link
        WHERE link.bucket = urls.bucket AND link.host_key = urls.host_key AND link.url_key = urls.url_key
            AND link.wiki = %(wiki)s
            AND NOT EXISTS (
                SELECT FROM dead
                WHERE dead.wiki = link.wiki AND dead.page = link.page AND dead.bucket = link.bucket
                    AND dead.host_key = link.host_key AND dead.url_key = link.url_key AND rule <> 1
            )
    )
FROM (
    SELECT hosts.reversed, url.bucket, url.host_key, url.url_key
    FROM (
        SELECT reversed, bucket, host_key FROM host
        WHERE reversed >= %(first)s AND reversed < %(end)s AND reversed >= %(after)s
    ) AS hosts
    CROSS JOIN LATERAL (
        SELECT * FROM url WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key
            AND url.url_key > CASE WHEN hosts.reversed = %(after)s THEN %(after_url_key)s::bigint ELSE %(least)s END
    ) AS url
) AS urls
WHERE EXISTS (
    SELECT FROM link
    WHERE link.bucket = urls.bucket AND link.host_key = urls.host_key AND link.url_key = urls.url_key
        AND link.wiki = %(wiki)s
)
ORDER BY reversed, url_key
LIMIT %(limit)s
