"""Our figures for the published documents: experiments on simulated machines, and arithmetic on what they give."""
