package migration

import (
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// Events are created on every node group, so that servers judge them, show them and dump them. There they all are DISABLE ON
// SLAVE, a status with which no server runs them, whatever its event_scheduler; the catalog has the status that clients see.

// planEvent plans CREATE, ALTER and DROP EVENT.
func (p *Planner) planEvent(o ddl.Name) error {
	old := p.Snap.Event(o.DB, o.Name)
	if at := p.EventSince; !at.IsZero() && (old == nil || !old.Since.Equal(at)) {
		return errNothingToDo
	}
	here := ddl.Object{DB: o.DB, Name: o.Name, Kind: routine.Event}
	p.work.Watched = []ddl.Object{here}
	unknown := sqlerr.NoSuchEvent.New(o.Name)
	if p.Statement.Verb == ddl.DropProgram {
		if old == nil {
			if !p.Statement.IfExists {
				return unknown
			}
			p.note(sqlerr.NoSuchRoutine.New("Event", o.Name))
			return errNothingToDo
		}
		if err := p.mayChange(old.Definer); err != nil {
			return err
		}
		p.work.Step = &Step{SQL: "DROP EVENT IF EXISTS " + o.SQL(), Repeat: true}
		p.work.Routines = p.work.Watched
		return nil
	}
	prog, alter := p.Statement.Prog, p.Statement.Verb == ddl.AlterProgram
	taken := func(name string) *sqlerr.Error {
		return sqlerr.EventExists.New(name)
	}
	to := prog.Schedule.RenameTo
	switch {
	case to != nil && strings.EqualFold(to.Name, o.Name) && (to.DB == o.DB || to.DB == "" && p.Session.DB == o.DB):
		return sqlerr.EventSameName.New()
	case alter && old == nil:
		return unknown
	case !alter && old != nil && prog.IfNotExists:
		p.note(sqlerr.EventExists.New(o.Name))
		return errNothingToDo
	case !alter && old != nil && !prog.OrReplace:
		return taken(o.Name)
	}
	if alter {
		if err := p.mayChange(old.Definer); err != nil {
			return err
		}
	}
	definer, err := p.programDefiner(prog)
	if err != nil {
		return err
	}
	p.work.Event = &schema.EventState{Definer: definer, Since: p.Created.Truncate(time.Second), Scheduled: prog.Schedule.Given, At: p.Created}
	if prog.Schedule.Given {
		p.work.Event.Since = p.work.Event.Since.Add(-time.Second) // it may begin at once
	}
	switch clause := prog.Schedule; {
	case clause.Aside:
		p.work.Event.Status = catalog.EventAside
	case clause.Enables, clause.Status.End == 0 && !alter:
		p.work.Event.Status = catalog.EventEnabled
	case clause.Status.End > 0:
		p.work.Event.Status = catalog.EventDisabled
	}
	// Once more does no harm, but for a second name: RENAME and CREATE are known by the texts of what they change.
	s := Step{SQL: p.Statement.WithStatus(ddl.Aside(p.Snap.Flavor, p.Snap.ServerVersion)), Repeat: prog.OrReplace || alter}
	if to != nil {
		there := ddl.Object{DB: to.DB, Name: to.Name, Kind: routine.Event}
		if there.DB == "" {
			if there.DB = p.Session.DB; there.DB == "" {
				return sqlerr.NoDatabase.New()
			}
		}
		if p.client().Privileges(there.DB, "")&catalog.MayEvent == 0 {
			return sqlerr.AccessDeniedDB.New(p.User, "%", there.DB)
		}
		if p.Snap.Databases[there.DB] == nil {
			return sqlerr.UnknownDatabase.New(there.DB)
		}
		if p.Snap.Event(there.DB, there.Name) != nil {
			return taken(there.Name)
		}
		s.Repeat = false
		p.work.Watched = append(p.work.Watched, there)
	}
	if !alter && old == nil {
		s.Undo = []string{"DROP EVENT IF EXISTS " + o.SQL()}
	}
	p.work.Step, p.work.Routines = &s, p.work.Watched
	return nil
}
