package sqlparse

const wordSlots = 2048

type wordEntry struct {
	text string
	id   uint16
}

func (d *Dialect) fillWords() {}
