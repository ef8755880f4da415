-- The first day of a URL's state where that is not the first day of its newest status: a page parks, is sold or comes back
-- while its server goes on answering 200 (U-7). Of doubts of before only the newest check is known to have had them.
ALTER TABLE url ADD COLUMN state_since smallint;
ALTER TABLE robot_entry ADD COLUMN state_since smallint;
UPDATE url SET state_since = asked WHERE reason BETWEEN 20 AND 39 AND status BETWEEN 1 AND 15 AND since < asked;
