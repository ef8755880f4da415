-- The search for URLs by pattern (W-5): hosts by their reversed names, then the URLs of each by key.

-- name: bound_time
-- For this transaction: limits the time of each statement of a search.
SELECT set_config('statement_timeout', %(timeout_ms)s::text, true)

-- name: find_hosts_end
-- fan-out: a range of names in any buckets; the first name after so many hosts.
SELECT reversed FROM host
WHERE reversed >= %(first)s AND reversed < %(end)s
ORDER BY reversed
OFFSET %(hosts)s LIMIT 1

-- name: list_stretch
-- Of a range of hosts, each with at most `budget` of its URLs: those that fit, up to the first host that has more than
-- that; its last URL that was read is returned in any case. (With one budget for all hosts it would be up to the
-- planner whether it stops there.) A domain's hosts are in one bucket, except those below a public suffix that is
-- itself below the domain: so each is looked up by its own full key. The verdict is that of core/verdict/verdict.py,
-- and that of core/verdict/verdict.py where half of a domain is reported; a test compares them.
-- fan-out: a range of names in any buckets.
SELECT reversed, url_key, bucket, host_key, fits, place = cut
FROM (
    SELECT placed.*, min(place) FILTER (WHERE nth = %(budget)s::bigint) OVER () AS cut
    FROM (
        SELECT hosts.reversed, urls.url_key, hosts.bucket, hosts.host_key, urls.nth,
            row_number() OVER (ORDER BY hosts.reversed, urls.url_key) AS place,
            urls.scheme = ANY(%(schemes)s::smallint[])
            AND (%(ports)s::integer[] IS NULL OR urls.port = (%(ports)s::integer[])[urls.scheme + 1])
            AND urls.path LIKE %(path)s
            AND (%(verdict)s::smallint IS NULL OR %(verdict)s::smallint = CASE
                WHEN urls.asked IS NULL OR urls.reason IS NULL THEN %(unknown)s::smallint
                WHEN urls.reason = %(temporary)s::smallint
                    AND urls.asked - coalesce(urls.state_since, urls.since) < %(temporary_days)s THEN %(unknown)s::smallint
                WHEN urls.reason = ANY(%(working_reasons)s::smallint[]) THEN %(working)s::smallint
                WHEN urls.reason = ANY(%(failing_reasons)s::smallint[])
                    AND (urls.status = ANY(%(host_failures)s::smallint[])
                        AND hosts.strikes >= %(dead_strikes)s
                        AND hosts.evidence & 127 >= (CASE hosts.evidence >> 14 & 1 WHEN 1 THEN %(server_span)s::integer ELSE %(dead_span)s END)
                            * (CASE hosts.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)
                    OR urls.strikes >= %(dead_strikes)s
                        AND (urls.evidence & 127 >= (CASE urls.evidence >> 14 & 1 WHEN 1 THEN %(server_span)s::integer ELSE %(dead_span)s END)
                            * (CASE urls.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)
                        OR (urls.evidence >> 7 & 127) - 1 >= %(missing_span)s
                            * (CASE urls.evidence >> 15 & 1 WHEN 1 THEN %(relapse_factor)s::integer ELSE 1 END)))
                    AND NOT EXISTS (SELECT FROM domain_report AS assumed
                        WHERE assumed.bucket = hosts.bucket AND assumed.subject IS NULL
                            AND right('.' || hosts.host, length(assumed.domain) + 1) = '.' || assumed.domain)
                    THEN %(dead)s::smallint
                ELSE %(doubtful)s::smallint
            END)
            AND (%(copied)s::boolean IS NULL OR %(copied)s::boolean
                = (EXISTS (SELECT FROM snapshot
                    WHERE snapshot.bucket = hosts.bucket AND snapshot.host_key = hosts.host_key
                        AND snapshot.url_key = urls.url_key AND snapshot.archive = ANY(%(offered)s::smallint[]))
                OR EXISTS (SELECT FROM replacement
                    WHERE replacement.bucket = hosts.bucket AND replacement.host_key = hosts.host_key
                        AND replacement.url_key = urls.url_key AND replacement.archive = ANY(%(offered)s::smallint[])
                        AND replacement.works))
                AND NOT EXISTS (SELECT FROM cited_copy
                    WHERE cited_copy.bucket = hosts.bucket AND cited_copy.host_key = hosts.host_key
                        AND cited_copy.url_key = urls.url_key)) AS fits
        FROM (
            SELECT reversed, bucket, host_key, host, strikes, evidence, reason AS host_reason FROM host
            WHERE reversed >= %(first)s AND reversed < %(end)s AND host LIKE ANY(%(hosts)s::text[])
        ) AS hosts
        CROSS JOIN LATERAL (
            SELECT url_key, scheme, port, path, status, since, asked, state_since, reason, strikes, evidence,
                row_number() OVER (ORDER BY url_key) AS nth
            FROM url
            WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key
                AND url.url_key > CASE WHEN hosts.reversed = %(after)s THEN %(after_url_key)s::bigint ELSE %(least)s END
            ORDER BY url_key
            LIMIT %(budget)s
        ) AS urls
    ) AS placed
) AS looked_at
WHERE (cut IS NULL OR place <= cut) AND (fits OR place = cut)
ORDER BY place
LIMIT %(limit)s

-- name: count_urls
-- Of the hosts that fit, at most `limit` URLs.
-- fan-out: a range of names in any buckets.
SELECT count(*) FROM (
    SELECT FROM (
        SELECT bucket, host_key FROM host
        WHERE reversed >= %(first)s AND reversed < %(end)s AND host LIKE ANY(%(hosts)s::text[])
    ) AS hosts
    CROSS JOIN LATERAL (SELECT FROM url WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key) AS urls
    LIMIT %(limit)s
) AS counted

-- name: list_by_path
-- The URLs that fit, of hosts with few enough of them (count_urls), in the order of hosts and paths.
-- fan-out: a range of names in any buckets.
SELECT hosts.bucket, hosts.host_key, urls.url_key, hosts.reversed
FROM (
    SELECT reversed, bucket, host_key FROM host
    WHERE reversed >= %(first)s AND reversed < %(end)s AND host LIKE ANY(%(hosts)s::text[])
) AS hosts
CROSS JOIN LATERAL (
    SELECT url_key, scheme, port, path FROM url
    WHERE url.bucket = hosts.bucket AND url.host_key = hosts.host_key
        AND scheme = ANY(%(schemes)s::smallint[])
        AND (%(ports)s::integer[] IS NULL OR port = (%(ports)s::integer[])[scheme + 1])
        AND path LIKE %(path)s
) AS urls
ORDER BY hosts.reversed, urls.path COLLATE "C", urls.scheme, urls.port, urls.url_key
LIMIT %(limit)s

-- name: list_uses_of
-- Of each URL the first pages of one wiki that use it: of its first `most` uses there, those in the namespaces (NULL =
-- in any). LATERAL and LIMIT find each page by its full key: a join might go through all pages of the wiki instead.
SELECT given.place, uses.page, uses.namespace, uses.title, uses.looked
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) WITH ORDINALITY
    AS given (bucket, host_key, url_key, place)
CROSS JOIN LATERAL (
    SELECT links.page, pages.namespace, pages.title, links.looked
    FROM (
        SELECT link.page, row_number() OVER (ORDER BY link.page) AS looked FROM link
        WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
            AND link.wiki = %(wiki)s
        ORDER BY link.page
        LIMIT %(most)s
    ) AS links
    LEFT JOIN LATERAL (
        SELECT namespace, title FROM page WHERE page.wiki = %(wiki)s AND page.page = links.page LIMIT 1
    ) AS pages ON true
    WHERE links.looked = %(most)s
        OR pages.title IS NOT NULL
            AND (%(namespaces)s::integer[] IS NULL OR pages.namespace = ANY(%(namespaces)s::integer[]))
    ORDER BY links.page
    LIMIT %(limit)s
) AS uses
ORDER BY given.place, uses.page

-- name: list_links_of
-- The pages of one wiki that use these URLs, URL by URL in the given order; of the URL at which a list goes on, those
-- after a page.
SELECT given.place, links.page, pages.namespace, pages.title
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) WITH ORDINALITY
    AS given (bucket, host_key, url_key, place)
CROSS JOIN LATERAL (
    SELECT link.page FROM link
    WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
        AND link.wiki = %(wiki)s
        AND link.page > CASE WHEN given.url_key = %(after_url_key)s::bigint THEN %(after_page)s::bigint ELSE 0 END
        AND (%(namespace)s::integer IS NULL OR %(namespace)s::integer = (
            SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = link.page LIMIT 1))
    ORDER BY link.page
    LIMIT %(limit)s
) AS links
CROSS JOIN LATERAL (
    SELECT namespace, title FROM page WHERE page.wiki = %(wiki)s AND page.page = links.page LIMIT 1
) AS pages
ORDER BY given.place, links.page
LIMIT %(limit)s
