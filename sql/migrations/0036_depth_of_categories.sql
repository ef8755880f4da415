-- How far below its tree's root a category is (P-6): one put into it is new in the tree, if that may be so deep. Until
-- the next pass it is not known.
ALTER TABLE category ADD COLUMN depth smallint;
