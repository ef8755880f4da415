-- What must hold between tables, stretch by stretch of their keys (docs/operating.md). Each statement sees the store at
-- one moment and returns what contradicts itself then; a stretch begins after a key and ends with one. The `find_last_`
-- statement of a walk returns the columns of its key, its `list_` statement a row for each breach: the key, the invariant
-- (store/upkeep/invariant.py), and words for people, in which names in braces stand for columns of the row.

-- name: estimate_rows
SELECT coalesce(inhparent, oid)::regclass::text, sum(reltuples)::bigint FROM pg_class LEFT JOIN pg_inherits ON inhrelid = oid
WHERE coalesce(inhparent, oid) = ANY(ARRAY['url', 'host', 'link', 'page', 'dead']::regclass[]) AND relkind = 'r'
GROUP BY 1

-- name: find_last_url
-- The last of the next so many URLs, and how many these are.
SELECT bucket, host_key, url_key, nth FROM (
    SELECT bucket, host_key, url_key, row_number() OVER (ORDER BY bucket, host_key, url_key) AS nth FROM url
    WHERE (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
        AND bucket BETWEEN %(bucket)s AND %(to_bucket)s
    ORDER BY bucket, host_key, url_key
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: find_last_host
SELECT bucket, host_key, nth FROM (
    SELECT bucket, host_key, row_number() OVER (ORDER BY bucket, host_key) AS nth FROM host
    WHERE (bucket, host_key) > (%(bucket)s::smallint, %(host_key)s::bigint)
        AND bucket BETWEEN %(bucket)s AND %(to_bucket)s
    ORDER BY bucket, host_key
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: find_last_link
-- A stretch ends with a whole link, but need not hold all links of a URL.
SELECT bucket, host_key, url_key, wiki, page, nth FROM (
    SELECT bucket, host_key, url_key, wiki, page,
        row_number() OVER (ORDER BY bucket, host_key, url_key, wiki, page) AS nth
    FROM link
    WHERE (bucket, host_key, url_key, wiki, page) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint,
            %(wiki)s::integer, %(page)s::integer)
        AND bucket BETWEEN %(bucket)s AND %(to_bucket)s
    ORDER BY bucket, host_key, url_key, wiki, page
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: find_last_page
SELECT wiki, page, nth FROM (
    SELECT wiki, page, row_number() OVER (ORDER BY wiki, page) AS nth FROM page
    WHERE (wiki, page) > (%(wiki)s::integer, %(page)s::integer)
    ORDER BY wiki, page
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: find_last_dead
-- fan-out: by wiki and page, a range of the primary key; a wiki's dead links are in all buckets.
SELECT wiki, page, bucket, host_key, url_key, nth FROM (
    SELECT wiki, page, bucket, host_key, url_key,
        row_number() OVER (ORDER BY wiki, page, bucket, host_key, url_key) AS nth
    FROM dead
    WHERE (wiki, page, bucket, host_key, url_key) > (%(wiki)s::integer, %(page)s::integer, %(bucket)s::smallint,
        %(host_key)s::bigint, %(url_key)s::bigint)
    ORDER BY wiki, page, bucket, host_key, url_key
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: find_last_copies
-- fan-out: URLs of which anything is known about copies, in whichever tables, in the order of their primary keys.
SELECT host_key, url_key, bucket, nth FROM (
    SELECT host_key, url_key, bucket, row_number() OVER (ORDER BY host_key, url_key, bucket) AS nth
    FROM (
        (
            SELECT DISTINCT host_key, url_key, bucket FROM snapshot
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM lookup
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM copy_queue
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM changing_page
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM saving
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM cited_copy
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
        UNION
        (
            SELECT DISTINCT host_key, url_key, bucket FROM revert
            WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
            ORDER BY host_key, url_key, bucket
            LIMIT %(limit)s
        )
    ) AS every
    ORDER BY host_key, url_key, bucket
    LIMIT %(limit)s
) AS next
ORDER BY nth DESC
LIMIT 1

-- name: list_url
-- verdict: the newest change of a URL is to the verdict that follows from its record, by core/verdict/verdict.py (a test
-- compares them); one that works may have none, or one to "unknown". dead: the dead links are the links of the URLs that are dead by the log. orphan: just URLs without a
-- link are marked as orphans. record: a record can be read. cited: just the cited copies are never due. queue: just the
-- doubtful and dead URLs are queued for their copies, as far as the queue has followed the log. no-host: the host of a
-- URL is there; of one without nothing more can be concluded: its streak, its name and so the URL itself are lost.
WITH judged AS MATERIALIZED (
    SELECT url.*, verdict = %(dead)s::smallint AND EXISTS (
            SELECT FROM link
            WHERE link.bucket = url.bucket AND link.host_key = url.host_key AND link.url_key = url.url_key
                AND NOT EXISTS (
                    SELECT FROM dead
                    WHERE dead.wiki = link.wiki AND dead.page = link.page AND dead.bucket = link.bucket
                        AND dead.host_key = link.host_key AND dead.url_key = link.url_key
                )
        ) AS lacks_dead,
        due = 32767 AND NOT EXISTS (
            SELECT FROM cited_copy
            WHERE cited_copy.bucket = url.bucket AND cited_copy.host_key = url.host_key
                AND cited_copy.url_key = url.url_key
        ) AS lacks_copy
    FROM (
        SELECT url.bucket, url.host_key, url.url_key, url.orphaned, url.due, hosts.strikes IS NULL AS is_hostless,
            (asked IS NULL) <> (since IS NULL) OR asked IS NOT NULL AND status <> ALL(%(statuses)s::smallint[])
                OR reason <> ALL(%(reasons)s::smallint[]) AS is_unreadable,
            EXISTS (
                SELECT FROM link
                WHERE link.bucket = url.bucket AND link.host_key = url.host_key AND link.url_key = url.url_key
            ) AS is_used,
            CASE
                WHEN asked IS NULL OR reason IS NULL THEN %(unknown)s::smallint
                WHEN reason = %(temporary)s::smallint
                    AND asked - coalesce(state_since, since) < %(temporary_days)s THEN %(unknown)s::smallint
                WHEN reason = ANY(%(working_reasons)s::smallint[]) THEN %(working)s::smallint
                WHEN reason = ANY(%(failing_reasons)s::smallint[])
                    AND (status = ANY(%(host_failures)s::smallint[])
                        AND hosts.strikes >= %(dead_strikes)s
                        AND hosts.evidence & 127 >= (CASE hosts.evidence >> 14 & 1 WHEN 1 THEN %(server_span)s::integer ELSE %(dead_span)s END)
                            * (CASE hosts.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)
                    OR url.strikes >= %(dead_strikes)s
                        AND (url.evidence & 127 >= (CASE url.evidence >> 14 & 1 WHEN 1 THEN %(server_span)s::integer ELSE %(dead_span)s END)
                            * (CASE url.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)
                        OR (url.evidence >> 7 & 127) - 1 >= %(missing_span)s
                            * (CASE url.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)))
                    THEN %(dead)s::smallint
                ELSE %(doubtful)s::smallint
            END AS verdict
        FROM url
        LEFT JOIN LATERAL (
            SELECT strikes, evidence, reason AS host_reason FROM host
            WHERE host.bucket = url.bucket AND host.host_key = url.host_key
            LIMIT 1
        ) AS hosts ON true
        WHERE (url.bucket, url.host_key, url.url_key)
                > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
            AND (url.bucket, url.host_key, url.url_key)
                <= (%(to_bucket)s::smallint, %(to_host_key)s::bigint, %(to_url_key)s::bigint)
            AND url.bucket BETWEEN %(bucket)s AND %(to_bucket)s
    ) AS url
)
SELECT bucket, host_key, url_key, logged, verdict, invariant, detail
FROM (
    SELECT judged.*, coalesce(newest.after, %(unknown)s::smallint) AS logged,
        newest.after IN (%(doubtful)s::smallint, %(dead)s::smallint)
            AND newest.change <= (SELECT change FROM copy_queue_position) AND NOT EXISTS (
                SELECT FROM copy_queue
                WHERE copy_queue.bucket = judged.bucket AND copy_queue.host_key = judged.host_key
                    AND copy_queue.url_key = judged.url_key
            ) AS lacks_place
    FROM judged
    LEFT JOIN LATERAL (
        SELECT change, after FROM change
        WHERE change.bucket = judged.bucket AND change.host_key = judged.host_key AND change.url_key = judged.url_key
            AND change.wiki = 0
        ORDER BY change DESC LIMIT 1
    ) AS newest ON true
    OFFSET 0
) AS known
CROSS JOIN LATERAL (
    VALUES (is_hostless, 'no-host', 'its host is not in the table of hosts'),
        (NOT is_hostless AND is_unreadable, 'record', 'its record has a status, reason or day that means nothing'),
        (NOT is_hostless AND is_unreadable IS NOT TRUE AND verdict <> logged
                AND NOT (logged = %(unknown)s::smallint AND verdict = %(working)s::smallint),
            'verdict', 'by the log {logged}, by its record {verdict}'),
        (NOT is_hostless AND is_unreadable IS NOT TRUE AND verdict = logged AND lacks_dead,
            'dead', 'dead, but not on all pages that use it'),
        (NOT is_hostless AND orphaned IS NOT NULL AND is_used, 'orphan', 'marked as an orphan, but in use'),
        (NOT is_hostless AND orphaned IS NULL AND NOT is_used, 'orphan', 'without use, but not marked as an orphan'),
        (NOT is_hostless AND lacks_copy, 'cited', 'never due, but no cited copy'),
        (NOT is_hostless AND lacks_place, 'queue', '{logged}, but its copies are not looked up')
) AS breach (is_broken, invariant, detail)
WHERE (is_hostless OR is_unreadable OR verdict <> logged OR (orphaned IS NULL) <> is_used OR lacks_dead OR lacks_copy
    OR lacks_place) AND is_broken

-- name: list_copies
-- copy: data of copies, and reverts, belong to URLs that are there. cited and queue as above.
-- What is known of copies of URLs that are not there, cited copies that the link checker would visit, and URLs that are
-- queued although they work by the log as far as the queue has followed it. 32767 = never due.
-- fan-out: in the order of the primary keys, in which the bucket comes last.
SELECT host_key, url_key, bucket, invariant, detail
FROM (
    SELECT every.bucket, every.host_key, every.url_key, watched.due,
        EXISTS (
            SELECT FROM cited_copy
            WHERE cited_copy.bucket = every.bucket AND cited_copy.host_key = every.host_key
                AND cited_copy.url_key = every.url_key
        ) AS is_cited,
        EXISTS (
            SELECT FROM copy_queue
            WHERE copy_queue.bucket = every.bucket AND copy_queue.host_key = every.host_key
                AND copy_queue.url_key = every.url_key
        ) AND (newest.change IS NULL
            OR newest.change <= (SELECT change FROM copy_queue_position) AND newest.after NOT IN (2, 3)) AS is_needless
    FROM (
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
    ) AS every
    LEFT JOIN LATERAL (
        SELECT due FROM url
        WHERE url.bucket = every.bucket AND url.host_key = every.host_key AND url.url_key = every.url_key
        LIMIT 1
    ) AS watched ON true
    LEFT JOIN LATERAL (
        SELECT change, after FROM change
        WHERE change.bucket = every.bucket AND change.host_key = every.host_key AND change.url_key = every.url_key
            AND change.wiki = 0
        ORDER BY change DESC LIMIT 1
    ) AS newest ON true
    OFFSET 0
) AS known
CROSS JOIN LATERAL (
    VALUES (due IS NULL, 'copy', 'its copies or reverts are known, but it is not there'),
        (is_cited AND due <> 32767, 'cited', 'a cited copy that the link checker would visit'),
        (due IS NOT NULL AND is_needless, 'queue', 'works, but its copies are looked up')
) AS breach (is_broken, invariant, detail)
WHERE (due IS NULL OR is_cited AND due <> 32767 OR is_needless) AND is_broken

-- name: list_host
-- next-day: a host's next day is that of its URL that is due first, or the day before. empty-host: a host has URLs.
-- A host with something new is due since the day before (store/pages/use.py), so a day too early is in order.
SELECT bucket, host_key, next_day, due,
    CASE WHEN has_urls THEN 'next-day' ELSE 'empty-host' END AS invariant,
    CASE WHEN has_urls THEN 'next day {next_day}, but its first URL is due on {due}' ELSE 'has no URL' END AS detail
FROM (
    SELECT host.bucket, host.host_key, host.next_day, (
            SELECT due FROM url
            WHERE url.bucket = host.bucket AND url.host_key = host.host_key AND orphaned IS NULL
            ORDER BY due LIMIT 1
        ) AS due,
        EXISTS (SELECT FROM url WHERE url.bucket = host.bucket AND url.host_key = host.host_key) AS has_urls
    FROM host
    WHERE (host.bucket, host.host_key) > (%(bucket)s::smallint, %(host_key)s::bigint)
        AND (host.bucket, host.host_key) <= (%(to_bucket)s::smallint, %(to_host_key)s::bigint)
        AND host.bucket BETWEEN %(bucket)s AND %(to_bucket)s
    OFFSET 0
) AS known
WHERE NOT has_urls OR (next_day IS NULL) <> (due IS NULL) OR next_day > due OR next_day < due - 1

-- name: list_link
-- links: a page names just its links, and their URLs are there.
-- Links of URLs that are not there, and links that their pages do not name: a page's row packs keys of 18 bytes in their
-- order, so that its links of a stretch are one piece of it. Only where they are not, each is looked for by itself: a page
-- of 20,000 links would be searched as often.
WITH used AS MATERIALIZED (
    SELECT link.bucket, link.host_key, link.url_key, link.wiki, link.page,
        int2send(link.bucket) || int8send(link.host_key) || int8send(link.url_key) AS packed,
        NOT EXISTS (
            SELECT FROM url
            WHERE url.bucket = link.bucket AND url.host_key = link.host_key AND url.url_key = link.url_key
        ) AS is_urlless
    FROM link
    WHERE (link.bucket, link.host_key, link.url_key, link.wiki, link.page) > (%(bucket)s::smallint,
            %(host_key)s::bigint, %(url_key)s::bigint, %(wiki)s::integer, %(page)s::integer)
        AND (link.bucket, link.host_key, link.url_key, link.wiki, link.page) <= (%(to_bucket)s::smallint,
            %(to_host_key)s::bigint, %(to_url_key)s::bigint, %(to_wiki)s::integer, %(to_page)s::integer)
        AND link.bucket BETWEEN %(bucket)s AND %(to_bucket)s
), pages AS MATERIALIZED (
    SELECT used.wiki, used.page, found.urls IS NULL AS is_pageless,
        coalesce(position(used.packed IN found.urls), 0) = 0 AS is_partly_unnamed
    FROM (
        SELECT wiki, page, string_agg(packed, ''::bytea ORDER BY bucket, host_key, url_key) AS packed FROM used
        GROUP BY wiki, page
    ) AS used
    LEFT JOIN LATERAL (
        SELECT urls FROM page WHERE page.wiki = used.wiki AND page.page = used.page LIMIT 1
    ) AS found ON true
)
SELECT bucket, host_key, url_key, wiki, page, is_pageless, is_urlless, 'links' AS invariant,
    CASE
        WHEN is_pageless THEN 'a link of a page that is not there'
        WHEN is_urlless THEN 'a link whose URL is not there'
        ELSE 'a link that its page does not name'
    END AS detail
FROM used JOIN pages USING (wiki, page)
WHERE CASE
        WHEN is_urlless OR NOT is_partly_unnamed THEN is_urlless
        ELSE coalesce(position(packed IN (
            SELECT urls FROM page WHERE page.wiki = used.wiki AND page.page = used.page
        )), 0) = 0
    END

-- name: list_page
-- What pages name that is no link, and pages whose lists of links are not in the order of keys. A list packs keys of 18
-- bytes; its end may be torn.
-- fan-out: the links of some pages are in any buckets, each is found by its key.
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
)
SELECT wiki, page, bucket, host_key, url_key, 'links' AS invariant, 'named by a page, but no link' AS detail
FROM named
WHERE NOT EXISTS (
    SELECT FROM link
    WHERE link.bucket = named.bucket AND link.host_key = named.host_key AND link.url_key = named.url_key
        AND link.wiki = named.wiki AND link.page = named.page
)
UNION ALL
SELECT wiki, page, 0, 0, 0, 'links', 'its list of links is out of order' FROM pages
WHERE length(urls) %% 18 <> 0 OR (wiki, page) IN (SELECT wiki, page FROM named WHERE is_moved)

-- name: list_dead
-- Dead links that are no links, or whose URL is not dead by the log.
-- fan-out: by wiki and page, a range of the primary key; a wiki's dead links are in all buckets.
SELECT wiki, page, bucket, host_key, url_key, 'dead' AS invariant,
    'a dead link that is no link, or whose URL is not dead' AS detail
FROM dead
WHERE (wiki, page, bucket, host_key, url_key) > (%(wiki)s::integer, %(page)s::integer, %(bucket)s::smallint,
        %(host_key)s::bigint, %(url_key)s::bigint)
    AND (wiki, page, bucket, host_key, url_key) <= (%(to_wiki)s::integer, %(to_page)s::integer,
        %(to_bucket)s::smallint, %(to_host_key)s::bigint, %(to_url_key)s::bigint)
    AND mod(page, %(parts)s) = %(part)s
    AND (
        NOT EXISTS (
            SELECT FROM link
            WHERE link.bucket = dead.bucket AND link.host_key = dead.host_key AND link.url_key = dead.url_key
                AND link.wiki = dead.wiki AND link.page = dead.page
        )
        OR rule <> 2 AND (
            SELECT after FROM change
            WHERE change.bucket = dead.bucket AND change.host_key = dead.host_key AND change.url_key = dead.url_key
                AND change.wiki = 0
            ORDER BY change DESC LIMIT 1
        ) IS DISTINCT FROM %(dead)s::smallint
    )

-- name: list_names
-- The host and the path of a URL, or a host alone, as far as they are known.
SELECT given.bucket, given.host_key, given.url_key,
    coalesce(host.host, 'host ' || given.bucket || '/' || given.host_key)
        || coalesce(url.path, ' URL ' || nullif(given.url_key, 0), '')
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
LEFT JOIN host USING (bucket, host_key)
LEFT JOIN url USING (bucket, host_key, url_key)

-- name: lock_pages
SELECT wiki, page, urls FROM unnest(%(wiki)s::integer[], %(page)s::integer[]) AS given (wiki, page)
JOIN page USING (wiki, page)
ORDER BY wiki, page
FOR NO KEY UPDATE OF page

-- name: record_page_urls
-- Pages name those links that they named or that are given. They are read anew, whatever their mark (P-5).
-- under lock: upkeep/invariant lock_pages, of the same pages before.
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
)
UPDATE page SET flagged = true, mark = NULL, urls = coalesce((
        SELECT string_agg(int2send(link.bucket) || int8send(link.host_key) || int8send(link.url_key), ''::bytea
            ORDER BY link.bucket, link.host_key, link.url_key)
        FROM named JOIN link USING (wiki, page, bucket, host_key, url_key)
        WHERE named.wiki = page.wiki AND named.page = page.page
    ), ''::bytea)
FROM pages
WHERE page.wiki = pages.wiki AND page.page = pages.page

-- name: record_orphaned
-- under lock: urls/lock lock_urls, of the same URLs before; no link comes or goes meanwhile.
UPDATE url SET orphaned_by = NULL, orphaned = CASE WHEN NOT EXISTS (
        SELECT FROM link
        WHERE link.bucket = url.bucket AND link.host_key = url.host_key AND link.url_key = url.url_key
    ) THEN %(day)s::smallint END
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS given (bucket, host_key, url_key)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: delete_dead
-- under lock: urls/lock lock_urls, of the same URLs before.
DELETE FROM dead
USING unnest(%(wiki)s::integer[], %(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[],
    %(url_key)s::bigint[]) AS given (wiki, page, bucket, host_key, url_key)
WHERE dead.wiki = given.wiki AND dead.page = given.page AND dead.bucket = given.bucket
    AND dead.host_key = given.host_key AND dead.url_key = given.url_key
