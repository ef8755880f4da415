-- What the start page shows.

-- name: list_first_pages
-- fan-out: a few pages of each wiki with the number of their dead links; limited to the pages of one screen.
SELECT given.wiki, page.page, page.namespace, page.title,
    (SELECT count(*) FROM dead WHERE dead.wiki = given.wiki AND dead.page = page.page)
FROM unnest(%(wikis)s::integer[]) AS given (wiki)
CROSS JOIN LATERAL (
    SELECT * FROM page WHERE page.wiki = given.wiki ORDER BY page.page LIMIT %(limit)s
) AS page
