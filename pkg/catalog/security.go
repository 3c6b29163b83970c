package catalog

// Security says in whose name a view or a stored program reads and writes (SQL SECURITY).
type Security struct {
	// Definer is the account that has made it; "" if none is known, so that it is whoever uses it.
	Definer AccountName `json:"definer,omitempty"`
	Invoker bool        `json:"invoker,omitempty"` // it is whoever uses it, in any case
}

// As is the account in whose name what user uses reads and writes; "" is the session's own.
func (s Security) As(user AccountName) AccountName {
	if s.Invoker || s.Definer == "" {
		return user
	}
	return s.Definer
}
