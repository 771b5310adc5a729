"""Two sides compared row by row, with intervals; and predictions judged by measurements."""
