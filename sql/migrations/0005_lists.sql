-- What lists for readers, feeds and bots go by (W-6, W-12, W-14).

-- Links that died (verdict 3) or came back, by their place in the log, and the first of a day.
CREATE INDEX change_dead ON change (change) WHERE (before = 3) <> (after = 3);
CREATE INDEX change_dead_day ON change (day, change) WHERE (before = 3) <> (after = 3);
-- The dead links of a wiki by host.
CREATE INDEX dead_host ON dead (wiki, bucket, host_key, page, url_key);
-- The pages on which a URL is spam, in the order in which they are told.
DROP INDEX spam_link_url;
CREATE INDEX spam_link_url ON spam_link (bucket, host_key, url_key, wiki, page);
