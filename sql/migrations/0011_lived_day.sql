-- The newest day on which a crawler worked: a clock that jumps away from it is not believed (C-16).

CREATE TABLE lived (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint NOT NULL
);
