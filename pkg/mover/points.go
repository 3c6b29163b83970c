package mover

// Points are the names Config.Hit is called with: every step after which a crash leaves something else behind.
func Points() []string {
	return []string{
		"prepare.tables", "begin.position", "begin.noted",
		"copy.low", "copy.read", "copy.high", "copy.done",
		"apply.chunk", "apply.changes", "apply.commit", "apply.committed",
		"cut.marker", "cut.marked", "cut.seen", "clean.delete", "forget.server",
	}
}
