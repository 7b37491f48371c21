"""The rules that a rehearsal holds a site to, a page each: what happened against what the plan promises."""
