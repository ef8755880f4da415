-- The pages of a namespace but redirects, by id.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM page
WHERE page_namespace = %(namespace)s AND page_is_redirect = 0 AND page_id > %(after)s
ORDER BY page_id
LIMIT %(limit)s
