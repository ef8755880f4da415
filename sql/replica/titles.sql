-- The pages of these titles of one namespace, without their links.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM page
WHERE page_namespace = %(namespace)s AND page_title IN %(titles)s
