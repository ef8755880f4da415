-- The page ids of what select_template finds, where the link tables are on another host than the pages.
SELECT tl_from
FROM linktarget
JOIN templatelinks ON tl_target_id = lt_id
WHERE lt_namespace = 10 AND lt_title = %(title)s AND tl_from > %(after)s
ORDER BY tl_from
LIMIT %(limit)s
