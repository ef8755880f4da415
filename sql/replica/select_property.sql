-- The pages that show statements of a Wikidata property (aspect 'C.P31'), by id. Wikibase has no index by aspect, but
-- one by page. With EXISTS the server would read all usages in every query; in this form it goes through the pages in
-- order until it has found enough.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM page
WHERE page_id > %(after)s
    AND (SELECT 1 FROM wbc_entity_usage WHERE eu_page_id = page_id AND eu_aspect = %(aspect)s LIMIT 1) IS NOT NULL
ORDER BY page_id
LIMIT %(limit)s
