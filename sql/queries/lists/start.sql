-- What a start page shows.

-- name: list_first_pages
-- fan-out: the dead links of a few pages, for people who begin; kept to the pages of one screen.
SELECT given.wiki, page.page, page.namespace, page.title,
    (SELECT count(*) FROM dead WHERE dead.wiki = given.wiki AND dead.page = page.page)
FROM unnest(%(wikis)s::integer[]) AS given (wiki)
CROSS JOIN LATERAL (
    SELECT * FROM page WHERE page.wiki = given.wiki ORDER BY page.page LIMIT %(limit)s
) AS page
