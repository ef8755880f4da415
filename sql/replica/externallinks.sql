-- The external links of these pages.
SELECT el_from, el_to_domain_index, el_to_path
FROM externallinks
WHERE el_from IN %(pages)s
