-- The interwiki links of these pages.
SELECT iwl_from, iwl_prefix, iwl_title
FROM iwlinks
WHERE iwl_from IN %(pages)s
