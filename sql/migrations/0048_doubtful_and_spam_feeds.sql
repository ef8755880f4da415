-- Lists of doubtful links and of spam, newest first, to be followed as feeds (W-6, W-12): changes by which URLs became
-- doubtful (2), and the day on which a link was first met as spam; NULL = before that was written.
CREATE INDEX change_doubtful ON change (change) WHERE after = 2 AND wiki = 0;
ALTER TABLE spam_link ADD COLUMN day smallint;
CREATE INDEX spam_link_day ON spam_link (wiki, day) WHERE day IS NOT NULL;
