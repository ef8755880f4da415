"""The simulated year: a world from a file, the real crawler day by day, and how right its verdicts were."""
