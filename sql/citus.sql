-- A store on several servers by the engine Citus (O-4): where each table lies, and what is asked of the engine.

-- name: layout
-- For `weboid store distribute`: run one by one; a table that lies where it should is passed over. A migration that makes a
-- table says here where it lies (a test compares this with schema.sql).
-- Sharded by bucket, so that what is known of the URLs of a bucket is on one server, with the lease of the bucket:
SELECT create_distributed_table('url', 'bucket', colocate_with => 'none');
SELECT create_distributed_table('host', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('link', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('dead', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('face', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('snapshot', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('lookup', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('cited_copy', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('lease', 'bucket', colocate_with => 'url');
SELECT create_distributed_table('report', 'bucket', colocate_with => 'url');
-- On every server, as they are read together with those: few rows, seldom written, by one transaction at a time. The wiki
-- itself is not there.
ALTER TABLE wiki_rule DROP CONSTRAINT IF EXISTS wiki_rule_wiki_fkey;
ALTER TABLE revert DROP CONSTRAINT IF EXISTS revert_wiki_fkey;
SELECT create_reference_table('wiki_rule');
SELECT create_reference_table('big_host');
SELECT create_reference_table('revert');
SELECT create_reference_table('domain_report');
SELECT create_reference_table('replacement');
SELECT create_reference_table('spam_link');
-- On the coordinator alone:
-- alarm archive_service asking_worker audit backup blocked category change changing_page checked copy_queue
-- copy_queue_position dataset dataset_file day_total done_request ended_session farm key_form link_card lived
-- loss_tally moved_forward namespace pace page part pass pending robot_entry robot_link robot_page robot_place
-- robot_task saving second_look settled slot spam_list special stream_position throttle throttle_key vantage_place
-- watch_list wiki wiki_place wiki_settings wiki_total withdrawal

-- name: is_there
SELECT to_regclass('pg_dist_partition') IS NOT NULL

-- name: list_shards
-- The shard of each bucket, in the order of buckets; no rows while the store is on one server, or has no tables yet.
SELECT get_shard_id_for_distribution_column(to_regclass('url'), bucket::smallint) FROM generate_series(0, 4095) AS bucket
WHERE EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('url'))
ORDER BY bucket

-- name: set_manner
-- What is set for a transaction is sent to the servers (`keep_order`), and a transaction has one connection to each of
-- them: else what it has written by one cannot be read by another.
SELECT set_config('citus.propagate_set_commands', 'local', false),
    set_config('citus.multi_shard_modify_mode', 'sequential', false),
    set_config('citus.max_adaptive_executor_pool_size', '1', false)

-- name: list_nodes
-- The servers that the engine knows, and whether each is to hold shards; group 0 is the coordinator.
SELECT nodename || ':' || nodeport, groupid = 0, shouldhaveshards FROM pg_dist_node WHERE isactive ORDER BY groupid

-- name: list_placed
SELECT logicalrelid::text FROM pg_dist_partition

-- name: find_size
SELECT pg_total_relation_size(%(table)s::text::regclass)

-- name: truncate_local
-- The rows that were copied to the servers.
SELECT truncate_local_data_after_distributing_table(%(table)s::text::regclass)

-- Texts that statements of sql/queries have there instead, where what is sharded is read first, and then what is not; on
-- one server they would read more.

-- name: urls/lock keep_order
SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_bitmapscan = off

-- name: urls/repaired list_wrong
-- fan-out: copies are in the buckets of their archives, not of what they show.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(original_bucket)s::smallint[], %(original_host_key)s::bigint[], %(original_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, original_bucket, original_host_key, original_url_key)
), offered AS MATERIALIZED (
    SELECT given.bucket, given.host_key, given.url_key, use.wiki, use.page
    FROM given
    JOIN cited_copy USING (original_bucket, original_host_key, original_url_key)
    JOIN link AS use ON use.bucket = cited_copy.bucket AND use.host_key = cited_copy.host_key
        AND use.url_key = cited_copy.url_key
    LEFT JOIN dead AS gone ON gone.wiki = use.wiki AND gone.page = use.page AND gone.bucket = cited_copy.bucket
        AND gone.host_key = cited_copy.host_key AND gone.url_key = cited_copy.url_key AND gone.rule <> 1
    WHERE cited_copy.archive = ANY(%(offered)s::smallint[]) AND gone.wiki IS NULL
        AND (%(wiki)s::integer IS NULL OR (use.wiki = %(wiki)s::integer AND use.page = ANY(%(pages)s::integer[])))
), links AS MATERIALIZED (
    SELECT link.wiki, link.page, link.bucket, link.host_key, link.url_key, dead.page IS NOT NULL AS is_dead, dead.repaired
    FROM given
    JOIN link USING (bucket, host_key, url_key)
    LEFT JOIN dead ON dead.wiki = link.wiki AND dead.page = link.page AND dead.bucket = link.bucket
        AND dead.host_key = link.host_key AND dead.url_key = link.url_key
    WHERE %(wiki)s::integer IS NULL OR (link.wiki = %(wiki)s::integer AND link.page = ANY(%(pages)s::integer[]))
)
SELECT wiki, page, bucket, host_key, url_key, ARRAY[repaired, is_offered]
FROM (
    SELECT links.*, (wiki, page, bucket, host_key, url_key) IN (
            SELECT wiki, page, bucket, host_key, url_key FROM offered
        ) AS is_offered
    FROM links
) AS each
WHERE (is_dead OR NOT %(dead)s) AND repaired IS DISTINCT FROM is_offered

-- name: archives/saving list_stretch
-- fan-out: URLs in the order of keys, across buckets.
WITH stretch AS MATERIALIZED (
    SELECT bucket, host_key, url_key, status > 0 AND status < 16 AND due < 32767 AND orphaned IS NULL
        AND NOT EXISTS (SELECT FROM snapshot WHERE snapshot.bucket = url.bucket
            AND snapshot.host_key = url.host_key AND snapshot.url_key = url.url_key) AS is_savable
    FROM url
    WHERE (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
    ORDER BY bucket, host_key, url_key
    LIMIT %(budget)s
)
SELECT bucket, host_key, url_key, is_savable
    AND NOT EXISTS (SELECT FROM saving WHERE saving.bucket = stretch.bucket
        AND saving.host_key = stretch.host_key AND saving.url_key = stretch.url_key)
FROM stretch
ORDER BY bucket, host_key, url_key

-- name: archives/saving record_savable
-- fan-out: the most used of all.
WITH savable AS MATERIALIZED (
    SELECT given.*, (
            SELECT count(*) FROM (
                SELECT FROM link
                WHERE link.bucket = url.bucket AND link.host_key = url.host_key AND link.url_key = url.url_key
                LIMIT 100
            ) AS few
        ) AS uses
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        WITH ORDINALITY AS given (bucket, host_key, url_key, place)
    JOIN url USING (bucket, host_key, url_key)
    WHERE url.status > 0 AND url.status < 16 AND url.due < 32767 AND url.orphaned IS NULL
        AND NOT EXISTS (SELECT FROM snapshot WHERE snapshot.bucket = url.bucket
            AND snapshot.host_key = url.host_key AND snapshot.url_key = url.url_key)
)
INSERT INTO saving (bucket, host_key, url_key, day, state, next)
SELECT bucket, host_key, url_key, %(day)s, %(state)s, clock_timestamp() - make_interval(secs => turn)
FROM (
    SELECT bucket, host_key, url_key, row_number() OVER (ORDER BY uses DESC, place) AS turn
    FROM savable
    WHERE NOT EXISTS (SELECT FROM saving WHERE saving.bucket = savable.bucket
        AND saving.host_key = savable.host_key AND saving.url_key = savable.url_key)
    ORDER BY uses DESC, place
    LIMIT %(limit)s
) AS taken
ORDER BY bucket, host_key, url_key
ON CONFLICT DO NOTHING

-- name: lists/changes list_news
-- fan-out: the log in its order.
WITH log AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY change) AS place, count(*) OVER () AS examined
    FROM (
        SELECT * FROM change
        WHERE (before = 3) <> (after = 3) AND change > %(since)s AND change <= %(until)s
        ORDER BY change
        LIMIT %(budget)s
    ) AS line
), own AS MATERIALIZED (
    SELECT coalesce(min(begins), 9223372036854775807) AS begins FROM wiki_rule WHERE wiki = %(wiki)s
), fitting AS MATERIALIZED (
    SELECT log.change, log.bucket, log.host_key, log.url_key FROM log CROSS JOIN own
    WHERE (log.wiki = 0 AND log.change <= own.begins OR log.wiki = %(wiki)s AND log.change > own.begins)
        AND (%(to)s::smallint[] IS NULL OR log.after = ANY(%(to)s::smallint[]))
), used AS MATERIALIZED (
    SELECT change, (array_agg(page ORDER BY page))[:%(pages)s] AS pages
    FROM fitting JOIN link USING (bucket, host_key, url_key)
    WHERE link.wiki = %(wiki)s AND (%(of)s::integer[] IS NULL OR page = ANY(%(of)s::integer[]))
    GROUP BY change
)
SELECT change, day, before, after, reason, bucket, host_key, url_key, used.pages, place = %(budget)s::bigint AS more
FROM log LEFT JOIN used USING (change)
WHERE used.pages IS NOT NULL OR place = examined
ORDER BY change
LIMIT %(limit)s

-- name: lists/changes list_newest
-- fan-out: as list_news.
WITH log AS MATERIALIZED (
    SELECT * FROM change WHERE (before = 3) <> (after = 3) ORDER BY change DESC LIMIT %(budget)s
), own AS MATERIALIZED (
    SELECT coalesce(min(begins), 9223372036854775807) AS begins FROM wiki_rule WHERE wiki = %(wiki)s
), fitting AS MATERIALIZED (
    SELECT log.change, log.bucket, log.host_key, log.url_key FROM log CROSS JOIN own
    WHERE log.wiki = 0 AND log.change <= own.begins OR log.wiki = %(wiki)s AND log.change > own.begins
), used AS MATERIALIZED (
    SELECT change, (array_agg(page ORDER BY page))[:%(pages)s] AS pages
    FROM fitting JOIN link USING (bucket, host_key, url_key)
    WHERE link.wiki = %(wiki)s
    GROUP BY change
)
SELECT change, day, before, after, reason, bucket, host_key, url_key, used.pages, false
FROM log JOIN used USING (change)
ORDER BY change DESC
LIMIT %(limit)s

-- name: lists/changes list_doubtful
-- fan-out: as list_news. Where there is a table of the coordinator, no parameter of WITH or a subquery is NULL: it would be
-- taken for one that is not.
WITH log AS MATERIALIZED (
    SELECT * FROM change WHERE after = 2 AND wiki = 0 ORDER BY change DESC LIMIT %(budget)s
), links AS MATERIALIZED (
    SELECT log.change, link.page FROM log JOIN link USING (bucket, host_key, url_key)
    WHERE link.wiki = %(wiki)s AND (%(of)s::integer[] IS NULL OR page = ANY(%(of)s::integer[]))
)
SELECT change, day, before, after, reason, bucket, host_key, url_key,
    (array_agg(links.page ORDER BY links.page))[:%(pages)s], false
FROM log JOIN links USING (change)
WHERE %(namespace)s::integer IS NULL OR %(namespace)s::integer = (
    SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = links.page LIMIT 1)
GROUP BY change, day, before, after, reason, bucket, host_key, url_key
ORDER BY change DESC
LIMIT %(limit)s

-- name: lists/dataset list_urls
WITH chosen AS MATERIALIZED (
    SELECT url.*, host.host, host.strikes AS host_strikes, host.failing_since AS host_since,
        host.failing_until AS host_until, host.evidence AS host_evidence, host.reason AS host_reason
    FROM url LEFT JOIN host ON host.bucket = url.bucket AND host.host_key = url.host_key
    WHERE url.bucket >= %(first)s AND url.bucket < %(end)s AND orphaned IS NULL
        AND (url.bucket, url.host_key, url.url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
    ORDER BY url.bucket, url.host_key, url.url_key
    LIMIT %(limit)s
), counted AS MATERIALIZED (
    SELECT link.bucket, link.host_key, link.url_key, link.wiki, count(*) AS uses
    FROM chosen JOIN link USING (bucket, host_key, url_key)
    GROUP BY link.bucket, link.host_key, link.url_key, link.wiki
)
SELECT chosen.bucket, chosen.host_key, chosen.url_key, chosen.scheme, chosen.host, chosen.port, chosen.path,
    chosen.status, chosen.since, chosen.asked, chosen.older, chosen.strikes, chosen.failing_since, chosen.failing_until, chosen.evidence,
    chosen.reason, chosen.target, chosen.mime, chosen.size_kib, chosen.http, chosen.state_since,
    chosen.host_strikes, chosen.host_since, chosen.host_until, chosen.host_evidence, chosen.host_reason, used.farm, used.uses,
    used.wikis
FROM chosen
LEFT JOIN LATERAL (
    SELECT wiki.farm, sum(counted.uses)::bigint AS uses, string_agg(wiki.dbname, ' ' ORDER BY wiki.dbname) AS wikis
    FROM counted JOIN wiki USING (wiki)
    WHERE counted.bucket = chosen.bucket AND counted.host_key = chosen.host_key AND counted.url_key = chosen.url_key
    GROUP BY wiki.farm
) AS used ON true
ORDER BY chosen.bucket, chosen.host_key, chosen.url_key, used.farm

-- name: lists/domain list_hosts
-- fan-out: a range of names in any buckets.
SELECT bucket, host_key, host, strikes, failing_since, failing_until, evidence, reason, (
        SELECT count(*) FROM (
            SELECT FROM url WHERE url.bucket = host.bucket AND url.host_key = host.host_key LIMIT %(most)s
        ) AS first_urls
    )
FROM host WHERE reversed >= %(first)s AND reversed < %(end)s ORDER BY reversed LIMIT %(limit)s

-- name: lists/domain count_uses
-- fan-out: a range of names in any buckets.
WITH used AS MATERIALIZED (
    SELECT link.wiki, EXISTS (
            SELECT FROM dead
            WHERE dead.wiki = link.wiki AND dead.page = link.page AND dead.bucket = link.bucket
                AND dead.host_key = link.host_key AND dead.url_key = link.url_key AND dead.rule <> 1
        ) AS is_dead
    FROM host JOIN link ON link.bucket = host.bucket AND link.host_key = host.host_key
    WHERE reversed >= %(first)s AND reversed < %(end)s
    LIMIT %(limit)s
)
SELECT wiki.dbname, farm.name, count(*), count(*) FILTER (WHERE is_dead)
FROM used
JOIN wiki ON wiki.wiki = used.wiki
JOIN farm ON farm.farm = wiki.farm
GROUP BY wiki.dbname, farm.name
ORDER BY count(*) DESC, wiki.dbname, farm.name

-- name: lists/domain count_changed
-- fan-out: a range of names in any buckets.
WITH hosts AS MATERIALIZED (
    SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s LIMIT %(limit)s
)
SELECT day, count(*) FILTER (WHERE after = 3), count(*) FILTER (WHERE after <> 3)
FROM (
    SELECT log.* FROM hosts
    CROSS JOIN LATERAL (
        SELECT day, after FROM change
        WHERE change.bucket = hosts.bucket AND change.host_key = hosts.host_key
            AND (before = 3) <> (after = 3) AND day > %(after)s AND wiki = 0
    ) AS log
    LIMIT %(limit)s
) AS lines
GROUP BY day

-- name: lists/links list_fitting
WITH known AS MATERIALIZED (
    SELECT given.place, given.page
    FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        WITH ORDINALITY AS given (page, bucket, host_key, url_key, place)
    WHERE (%(path)s::text = '' OR starts_with((
            SELECT path FROM url
            WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
            LIMIT 1), %(path)s))
        AND (%(repaired)s::boolean IS NULL OR %(repaired)s::boolean = coalesce((
            SELECT repaired FROM dead
            WHERE dead.wiki = %(wiki)s AND dead.page = given.page AND dead.bucket = given.bucket
                AND dead.host_key = given.host_key AND dead.url_key = given.url_key
            LIMIT 1), false))
        AND (%(copied)s::boolean IS NULL OR %(copied)s::boolean = coalesce((
                SELECT true FROM snapshot
                WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key
                    AND snapshot.url_key = given.url_key AND snapshot.archive = ANY(%(offered)s::smallint[])
                LIMIT 1), (
                SELECT true FROM replacement
                WHERE replacement.bucket = given.bucket AND replacement.host_key = given.host_key
                    AND replacement.url_key = given.url_key AND replacement.archive = ANY(%(offered)s::smallint[])
                    AND replacement.works
                LIMIT 1), false)
            AND (SELECT true FROM cited_copy
                WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
                    AND cited_copy.url_key = given.url_key
                LIMIT 1) IS NULL)
)
SELECT place FROM known
WHERE %(namespace)s::integer IS NULL OR %(namespace)s::integer = (
    SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = known.page LIMIT 1)

-- name: lists/links list_first_pages
-- fan-out: a few pages of each wiki with the number of their dead links.
WITH pages AS MATERIALIZED (
    SELECT first.* FROM unnest(%(wikis)s::integer[]) AS given (wiki)
    CROSS JOIN LATERAL (
        SELECT wiki, page, namespace, title FROM page WHERE page.wiki = given.wiki ORDER BY page.page LIMIT %(limit)s
    ) AS first
), counted AS MATERIALIZED (
    SELECT dead.wiki, dead.page, count(*) AS count, count(*) FILTER (WHERE repaired) AS repaired
    FROM pages JOIN dead USING (wiki, page)
    WHERE rule <> 1
    GROUP BY dead.wiki, dead.page
)
SELECT wiki, page, namespace, title, coalesce(counted.count, 0), coalesce(counted.repaired, 0)
FROM pages LEFT JOIN counted USING (wiki, page)
ORDER BY wiki, page

-- name: lists/search list_uses_of
WITH links AS MATERIALIZED (
    SELECT given.place, few.page, few.looked
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) WITH ORDINALITY
        AS given (bucket, host_key, url_key, place)
    CROSS JOIN LATERAL (
        SELECT link.page, row_number() OVER (ORDER BY link.page) AS looked FROM link
        WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
            AND link.wiki = %(wiki)s
        ORDER BY link.page
        LIMIT %(most)s
    ) AS few
)
SELECT place, page, namespace, title, looked
FROM (
    SELECT links.*, page.namespace, page.title, row_number() OVER (PARTITION BY links.place ORDER BY links.page) AS nth
    FROM links LEFT JOIN page ON page.wiki = %(wiki)s AND page.page = links.page
    WHERE links.looked = %(most)s
        OR page.title IS NOT NULL
            AND (%(namespaces)s::integer[] IS NULL OR page.namespace = ANY(%(namespaces)s::integer[]))
) AS uses
WHERE nth <= %(limit)s
ORDER BY place, page

-- name: lists/search list_links_of
WITH links AS MATERIALIZED (
    SELECT given.place, link.page
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) WITH ORDINALITY
        AS given (bucket, host_key, url_key, place)
    JOIN link USING (bucket, host_key, url_key)
    WHERE link.wiki = %(wiki)s
        AND link.page > CASE WHEN given.url_key = %(after_url_key)s::bigint THEN %(after_page)s::bigint ELSE 0 END
)
SELECT place, page, namespace, title
FROM links JOIN page USING (page)
WHERE page.wiki = %(wiki)s AND (%(namespace)s::integer IS NULL OR namespace = %(namespace)s::integer)
ORDER BY place, page
LIMIT %(limit)s

-- name: schedule/pace list_candidates
-- fan-out: all are counted, in all shards at a time.
SELECT bucket, host_key FROM url GROUP BY bucket, host_key HAVING count(*) > %(least)s
UNION
SELECT bucket, host_key FROM big_host

-- name: urls/check record_rests
WITH given AS MATERIALIZED (
    SELECT bucket, host_key, now() + make_interval(secs => rest) AS until, every
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(rest_s)s::float8[], %(every_s)s::real[])
        AS given (bucket, host_key, rest, every)
)
UPDATE host SET rests_until = given.until, asked_every = given.every
FROM given
WHERE host.bucket = given.bucket AND host.host_key = given.host_key

-- name: upkeep/rekey lock_pages
-- fan-out: all together, so that pages are locked in one order.
WITH using_them AS MATERIALIZED (
    SELECT DISTINCT wiki, page
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN link USING (bucket, host_key, url_key)
)
SELECT FROM page JOIN using_them USING (wiki, page)
ORDER BY page.wiki, page.page
FOR NO KEY UPDATE OF page

-- name: upkeep/invariant list_page
-- fan-out: the links of some pages are in any buckets.
WITH pages AS MATERIALIZED (
    SELECT wiki, page, urls || ''::bytea AS urls FROM page
    WHERE (wiki, page) > (%(wiki)s::integer, %(page)s::integer)
        AND (wiki, page) <= (%(to_wiki)s::integer, %(to_page)s::integer)
        AND mod(page, %(parts)s) = %(part)s
), named AS MATERIALIZED (
    SELECT wiki, page, bucket, host_key, url_key,
        dense_rank() OVER (PARTITION BY wiki, page ORDER BY bucket, host_key, url_key) <> at / 18 + 1 AS is_moved
    FROM pages
    CROSS JOIN LATERAL generate_series(0, length(urls) - 18, 18) AS at
    CROSS JOIN LATERAL (
        SELECT (('x' || encode(substr(urls, at + 1, 2), 'hex'))::bit(16)::integer # 32768) - 32768 AS bucket,
            ('x' || encode(substr(urls, at + 3, 8), 'hex'))::bit(64)::bigint AS host_key,
            ('x' || encode(substr(urls, at + 11, 8), 'hex'))::bit(64)::bigint AS url_key
        OFFSET 0
    ) AS unpacked
), linked AS MATERIALIZED (
    SELECT wiki, page, bucket, host_key, url_key FROM named JOIN link USING (wiki, page, bucket, host_key, url_key)
)
SELECT wiki, page, bucket, host_key, url_key, 'links' AS invariant, 'named by a page, but no link' AS detail
FROM named
WHERE (wiki, page, bucket, host_key, url_key) NOT IN (SELECT * FROM linked)
UNION ALL
SELECT wiki, page, 0, 0, 0, 'links', 'its list of links is out of order' FROM pages
WHERE length(urls) %% 18 <> 0 OR (wiki, page) IN (SELECT wiki, page FROM named WHERE is_moved)

-- name: upkeep/invariant list_dead
-- fan-out: by wiki and page, a range of the primary key.
WITH known AS MATERIALIZED (
    SELECT wiki, page, bucket, host_key, url_key, rule, NOT EXISTS (
            SELECT FROM link
            WHERE link.bucket = dead.bucket AND link.host_key = dead.host_key AND link.url_key = dead.url_key
                AND link.wiki = dead.wiki AND link.page = dead.page
        ) AS is_loose
    FROM dead
    WHERE (wiki, page, bucket, host_key, url_key) > (%(wiki)s::integer, %(page)s::integer, %(bucket)s::smallint,
            %(host_key)s::bigint, %(url_key)s::bigint)
        AND (wiki, page, bucket, host_key, url_key) <= (%(to_wiki)s::integer, %(to_page)s::integer,
            %(to_bucket)s::smallint, %(to_host_key)s::bigint, %(to_url_key)s::bigint)
        AND mod(page, %(parts)s) = %(part)s
)
SELECT wiki, page, bucket, host_key, url_key, 'dead' AS invariant,
    'a dead link that is no link, or whose URL is not dead' AS detail
FROM known
WHERE is_loose OR rule <> 2 AND (
    SELECT after FROM change
    WHERE change.bucket = known.bucket AND change.host_key = known.host_key AND change.url_key = known.url_key
        AND change.wiki = 0
    ORDER BY change DESC LIMIT 1
) IS DISTINCT FROM %(dead)s::smallint

-- name: upkeep/invariant record_page_urls
-- fan-out: the links of some pages are in any buckets.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(wiki)s::integer[], %(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[],
        %(url_key)s::bigint[]) AS given (wiki, page, bucket, host_key, url_key)
), pages AS MATERIALIZED (
    SELECT DISTINCT wiki, page, urls || ''::bytea AS urls FROM given JOIN page USING (wiki, page)
), named AS MATERIALIZED (
    SELECT wiki, page, bucket, host_key, url_key FROM given
    UNION
    SELECT wiki, page, (('x' || encode(substr(urls, at + 1, 2), 'hex'))::bit(16)::integer # 32768) - 32768,
        ('x' || encode(substr(urls, at + 3, 8), 'hex'))::bit(64)::bigint,
        ('x' || encode(substr(urls, at + 11, 8), 'hex'))::bit(64)::bigint
    FROM pages
    CROSS JOIN LATERAL generate_series(0, length(urls) - 18, 18) AS at
), linked AS MATERIALIZED (
    SELECT link.wiki, link.page, link.bucket, link.host_key, link.url_key
    FROM named JOIN link USING (wiki, page, bucket, host_key, url_key)
)
UPDATE page SET flagged = true, mark = NULL, urls = coalesce((
        SELECT string_agg(int2send(bucket) || int8send(host_key) || int8send(url_key), ''::bytea
            ORDER BY bucket, host_key, url_key)
        FROM linked
        WHERE linked.wiki = page.wiki AND linked.page = page.page
    ), ''::bytea)
FROM pages
WHERE page.wiki = pages.wiki AND page.page = pages.page

-- name: upkeep/invariant list_copies
-- fan-out: in the order of the primary keys, in which the bucket comes last.
WITH every AS MATERIALIZED (
    (
        SELECT DISTINCT host_key, url_key, bucket FROM snapshot
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM lookup
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM copy_queue
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM changing_page
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM saving
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM cited_copy
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
    UNION
    (
        SELECT DISTINCT host_key, url_key, bucket FROM revert
        WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            AND (host_key, url_key, bucket)
                <= (%(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_bucket)s::smallint)
            AND mod(bucket, %(parts)s) = %(part)s
    )
), watched AS MATERIALIZED (
    SELECT host_key, url_key, bucket, due FROM every JOIN url USING (host_key, url_key, bucket)
), cited AS MATERIALIZED (
    SELECT host_key, url_key, bucket FROM every JOIN cited_copy USING (host_key, url_key, bucket)
)
SELECT host_key, url_key, bucket, invariant, detail
FROM (
    SELECT every.host_key, every.url_key, every.bucket, watched.due, cited.bucket IS NOT NULL AS is_cited,
        EXISTS (
            SELECT FROM copy_queue
            WHERE copy_queue.bucket = every.bucket AND copy_queue.host_key = every.host_key
                AND copy_queue.url_key = every.url_key
        ) AND (newest.change IS NULL
            OR newest.change <= (SELECT change FROM copy_queue_position) AND newest.after NOT IN (2, 3)) AS is_needless
    FROM every
    LEFT JOIN watched USING (host_key, url_key, bucket)
    LEFT JOIN cited USING (host_key, url_key, bucket)
    LEFT JOIN LATERAL (
        SELECT change, after FROM change
        WHERE change.bucket = every.bucket AND change.host_key = every.host_key AND change.url_key = every.url_key
            AND change.wiki = 0
        ORDER BY change DESC LIMIT 1
    ) AS newest ON true
) AS known
CROSS JOIN LATERAL (
    VALUES (due IS NULL, 'copy', 'its copies or reverts are known, but it is not there'),
        (is_cited AND due <> 32767, 'cited', 'a cited copy that the link checker would visit'),
        (due IS NOT NULL AND is_needless, 'queue', 'works, but its copies are looked up')
) AS breach (is_broken, invariant, detail)
WHERE (due IS NULL OR is_cited AND due <> 32767 OR is_needless) AND is_broken

-- name: lists/health count_all
-- fan-out: the coordinator itself knows no number of rows of what is sharded.
SELECT clock_timestamp(),
    (SELECT count(*) FROM (SELECT FROM url LIMIT %(limit)s) AS counted),
    (SELECT sum(result::bigint)::bigint FROM run_command_on_shards('url',
        'SELECT reltuples::bigint FROM pg_class WHERE oid = ''%%s''::regclass')),
    (SELECT count(*) FROM (SELECT FROM host LIMIT %(limit)s) AS counted),
    (SELECT sum(result::bigint)::bigint FROM run_command_on_shards('host',
        'SELECT reltuples::bigint FROM pg_class WHERE oid = ''%%s''::regclass'))

-- name: schedule/pace count_all
-- fan-out: all are counted, in all shards at a time; once a day.
SELECT urls.counted, hosts.counted
FROM (SELECT count(*) FROM url) AS urls (counted), (SELECT count(*) FROM host) AS hosts (counted)

-- name: upkeep/invariant estimate_rows
SELECT relname::text, CASE WHEN relname = 'page' THEN reltuples::bigint ELSE (
        SELECT sum(result::bigint)::bigint FROM run_command_on_shards(oid::regclass,
            'SELECT reltuples::bigint FROM pg_class WHERE oid = ''%s''::regclass')
    ) END
FROM pg_class WHERE oid = ANY(ARRAY['url', 'host', 'link', 'page', 'dead']::regclass[])

-- name: archives/snapshot find_size
SELECT citus_relation_size('snapshot')
