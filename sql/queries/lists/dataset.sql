-- The public data set: statuses per wiki and host (W-13).

-- name: list_statuses
-- A stretch of buckets; the stretches are read one after the other, so no statement runs for long.
SELECT wiki.farm, wiki.dbname, host.host, url.status, count(DISTINCT url.url_key), count(*),
    count(DISTINCT url.url_key) FILTER (WHERE dead.rule <> 1)
FROM link
JOIN url USING (bucket, host_key, url_key)
JOIN host USING (bucket, host_key)
JOIN wiki USING (wiki)
LEFT JOIN dead USING (wiki, page, bucket, host_key, url_key)
WHERE link.bucket >= %(first)s AND link.bucket < %(end)s
GROUP BY wiki.farm, wiki.dbname, host.host, url.status
ORDER BY wiki.farm, wiki.dbname, host.host, url.status

-- name: record_part
INSERT INTO dataset (day, farm, part, lines, body) VALUES (%(day)s, %(farm)s, %(part)s, %(lines)s, %(body)s)
ON CONFLICT (day, farm, part) DO UPDATE SET lines = excluded.lines, body = excluded.body

-- name: find_newest_day
SELECT max(day) FROM dataset

-- name: count_parts
-- The number of different parts of a day's sets.
SELECT count(*) FROM (
    SELECT FROM dataset WHERE day = %(day)s GROUP BY part
) AS parts

-- name: list_sets
SELECT dataset.day, farm.name, sum(lines)::bigint, sum(octet_length(body))::bigint
FROM dataset JOIN farm USING (farm)
GROUP BY dataset.day, farm.name
HAVING count(*) = %(parts)s
ORDER BY dataset.day DESC, farm.name

-- name: find_part
SELECT body FROM dataset JOIN farm USING (farm)
WHERE dataset.day = %(day)s AND farm.name = %(farm)s AND part = %(part)s

-- name: delete_old_sets
DELETE FROM dataset
USING (
    SELECT day, farm, part FROM dataset WHERE day < %(day)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE dataset.day = gone.day AND dataset.farm = gone.farm AND dataset.part = gone.part

