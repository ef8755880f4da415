-- Texts of link cards (R-8): of URLs whose cards were opened, as a look found them (store/urls/card.py). `is_open` = the
-- look is under way; `digest` is of the URL in normal form.
CREATE TABLE link_card (
    digest bytea PRIMARY KEY,
    looked smallint NOT NULL,
    is_open boolean NOT NULL DEFAULT true,
    card bytea
);
CREATE INDEX link_card_looked ON link_card (looked);
