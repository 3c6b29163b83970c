package virtualdb

import (
	"time"

	"skarv/pkg/rowset"
)

// processes is the clients of all processes.
func (c *Cluster) processes(v *Viewer) (*rowset.Table, error) {
	t := rowset.New("#id", "user", "host", "db", "command", "#seconds", "info")
	for _, p := range v.Processes() {
		t.Add(p.ID, p.User, p.Host, p.DB, p.Command, p.Seconds(), p.SQL)
	}
	return t, nil
}

// sessionTrace is the last steps of this process's sessions that the account may see.
func (c *Cluster) sessionTrace(v *Viewer) (*rowset.Table, error) {
	t := rowset.New("#session", "user", "#step", "at", "#ago_us", "what", "kind", "#node_group", "#error")
	all := v.Account.Administers()
	for _, p := range c.Clients.Processes() {
		if !all && p.User != v.Account.Name.User() {
			continue
		}
		_, steps, _ := c.Clients.Trace(p.ID)
		now := time.Now()
		for i, step := range steps {
			t.Add(p.ID, p.User, i+1, step.At.UTC().Format("2006-01-02 15:04:05.000000"), now.Sub(step.At).Microseconds(), step.Name,
				step.Kind, step.Group, step.Code)
		}
	}
	return t, nil
}
