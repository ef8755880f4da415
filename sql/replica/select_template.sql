-- The pages that use a template, directly or through another, by id.
SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model
FROM linktarget
JOIN templatelinks ON tl_target_id = lt_id
JOIN page ON page_id = tl_from
WHERE lt_namespace = 10 AND lt_title = %(title)s AND tl_from > %(after)s
ORDER BY tl_from
LIMIT %(limit)s
