-- How fast the crawl goes, and the hosts that are too big for it (C-3, C-4).

-- name: record_checked
INSERT INTO checked (day, urls) VALUES (%(day)s, %(urls)s)
ON CONFLICT (day) DO UPDATE SET urls = checked.urls + excluded.urls

-- name: delete_checked
DELETE FROM checked
USING (
    SELECT day FROM checked WHERE day < %(before)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE checked.day = gone.day

-- name: find_checked
-- The mean of the days of the last week on which anything was checked; the current one is not over.
SELECT round(avg(urls))::bigint FROM checked WHERE day >= %(first)s AND day < %(day)s AND urls > 0

-- name: find_pace
SELECT interval_days, changed, day, calm FROM pace

-- name: record_pace
INSERT INTO pace (interval_days, changed, day, calm) VALUES (%(interval)s, %(changed)s, %(day)s, %(calm)s)
ON CONFLICT (only_row) DO UPDATE
SET interval_days = excluded.interval_days, changed = excluded.changed, day = excluded.day, calm = excluded.calm

-- name: count_all
-- fan-out: small tables are counted, of others it is the estimate of the last ANALYZE.
SELECT CASE WHEN urls.counted < %(limit)s THEN urls.counted
        ELSE greatest(urls.counted, (SELECT sum(reltuples)::bigint FROM pg_class
            WHERE 'url'::regclass IN (oid, (SELECT inhparent FROM pg_inherits WHERE inhrelid = oid)) AND relkind = 'r')) END,
    CASE WHEN hosts.counted < %(limit)s THEN hosts.counted
        ELSE greatest(hosts.counted, (SELECT sum(reltuples)::bigint FROM pg_class
            WHERE 'host'::regclass IN (oid, (SELECT inhparent FROM pg_inherits WHERE inhrelid = oid)) AND relkind = 'r')) END
FROM (SELECT count(*) FROM (SELECT FROM url LIMIT %(limit)s) AS few) AS urls (counted),
    (SELECT count(*) FROM (SELECT FROM host LIMIT %(limit)s) AS few) AS hosts (counted)

-- name: count_late
-- By index, in each bucket; no more than are needed to say that the crawl is behind.
-- fan-out: every bucket, one look-up by index in each.
SELECT count(*) FROM (
    SELECT FROM lease CROSS JOIN LATERAL (
        SELECT FROM host
        WHERE host.bucket = lease.bucket AND next_day < %(before)s
            AND NOT EXISTS (SELECT FROM big_host
                WHERE big_host.bucket = host.bucket AND big_host.host_key = host.host_key)
        LIMIT %(limit)s
    ) AS late_host
    LIMIT %(limit)s
) AS late

-- name: list_candidates
-- fan-out: the hosts with the most URLs. A small table is counted; of a large one ANALYZE has found the values that are
-- common, and a host with more URLs than fit into four weeks is one.
WITH common AS (
    SELECT unnest(most_common_vals::text::bigint[]) AS host_key
    FROM pg_stats JOIN pg_class ON relname = tablename JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE 'url'::regclass IN (pg_class.oid, (SELECT inhparent FROM pg_inherits WHERE inhrelid = pg_class.oid))
        AND nspname = schemaname AND attname = 'host_key' AND %(is_large)s
), counted AS (
    SELECT bucket, host_key FROM url WHERE NOT %(is_large)s GROUP BY bucket, host_key HAVING count(*) > %(least)s
)
SELECT host.bucket, host.host_key FROM common
CROSS JOIN LATERAL (SELECT bucket, host_key FROM url WHERE url.host_key = common.host_key LIMIT 1) AS host
UNION
SELECT bucket, host_key FROM counted
UNION
SELECT bucket, host_key FROM big_host

-- name: list_sizes
-- By index; of each host no more than `most` are counted, and cited copies (never due) not at all.
SELECT given.bucket, given.host_key, size.urls
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
CROSS JOIN LATERAL (
    SELECT count(*) FROM (
        SELECT FROM url
        WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND orphaned IS NULL AND due < 32767
        LIMIT %(most)s
    ) AS counted
) AS size (urls)
ORDER BY size.urls DESC
LIMIT %(hosts)s

-- name: delete_big_hosts
DELETE FROM big_host
USING (
    SELECT bucket, host_key FROM big_host
    ORDER BY bucket, host_key
    FOR UPDATE
) AS gone
WHERE big_host.bucket = gone.bucket AND big_host.host_key = gone.host_key

-- name: record_big_hosts
INSERT INTO big_host (bucket, host_key, urls, days)
SELECT bucket, host_key, urls, days
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(urls)s::integer[], %(days)s::smallint[])
    AS given (bucket, host_key, urls, days)
ORDER BY bucket, host_key

-- name: list_big_hosts
-- fan-out: the few big hosts of all buckets, each by its key.
SELECT bucket, host_key, host.host, big_host.urls, big_host.days FROM big_host JOIN host USING (bucket, host_key)
ORDER BY big_host.urls DESC, host.host
