-- The pages of these ids, without their links, by id.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM page
WHERE page_id IN %(pages)s
ORDER BY page_id
