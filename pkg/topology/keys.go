package topology

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// Kinds of keys, the first element of their path.
const (
	kindCluster = "cluster"
	kindMap     = "map"
	kindGroup   = "ng"
	kindDB      = "db"
	kindTable   = "table"
	kindRoutine = "routine"
	kindEvent   = "event"
	kindAccount = "account"
	kindSetting = "setting"
	kindSeq     = "seq"
	kindNext    = "next"
	kindLive    = "live"
	kindLeader  = "leader"
	kindSlot    = "slot"
)

func (s *Store) clusterKey() string { return s.prefix + kindCluster }
func (s *Store) mapKey() string     { return s.prefix + kindMap }

func (s *Store) groupKey(id placement.NodeGroupID) string {
	return fmt.Sprintf("%s%s/%05d", s.prefix, kindGroup, id)
}

func (s *Store) dbKey(name string) string { return s.prefix + kindDB + "/" + url.PathEscape(name) }

// tablesKey is the prefix of the keys of a database's tables.
func (s *Store) tablesKey(db string) string {
	return s.prefix + kindTable + "/" + url.PathEscape(db) + "/"
}

func (s *Store) tableKey(db, name string) string { return s.tablesKey(db) + url.PathEscape(name) }

// routinesKey is the prefix of the keys of a database's stored functions and procedures.
func (s *Store) routinesKey(db string) string {
	return s.prefix + kindRoutine + "/" + url.PathEscape(db) + "/"
}

func (s *Store) routineKey(k catalog.RoutineKey) string {
	kind := "procedure"
	if k.Function {
		kind = "function"
	}
	return s.routinesKey(k.Database) + kind + "/" + url.PathEscape(k.Name)
}

// eventsKey is the prefix of the keys of a database's events.
func (s *Store) eventsKey(db string) string {
	return s.prefix + kindEvent + "/" + url.PathEscape(db) + "/"
}

func (s *Store) eventKey(k catalog.EventKey) string {
	return s.eventsKey(k.Database) + url.PathEscape(k.Name)
}

// settingKey is the key of a setting of the whole cluster.
func (s *Store) settingKey(name string) string { return s.prefix + kindSetting + "/" + name }

// eventsOff is the setting that keeps events from running.
const eventsOff = "events_off"

func (s *Store) accountKey(name catalog.AccountName) string {
	return s.prefix + kindAccount + "/" + url.PathEscape(string(name))
}

func (s *Store) seqKey(id uint64) string {
	return s.prefix + kindSeq + "/" + strconv.FormatUint(id, 10)
}

func (s *Store) nextKey(what string) string { return s.prefix + kindNext + "/" + what }

func (s *Store) liveKey(member string) string {
	return s.prefix + kindLive + "/" + url.PathEscape(member)
}

func (s *Store) leaderKey(role string) string { return s.prefix + kindLeader + "/" + role }

func (s *Store) recordsKey(kind RecordKind) string { return s.prefix + string(kind) + "/" }

func (s *Store) recordKey(kind RecordKind, id string) string {
	return s.recordsKey(kind) + url.PathEscape(id)
}

// splitKey takes a key apart into its kind and unescaped names; kind is "" for keys that are not this cluster's.
func (s *Store) splitKey(key []byte) (kind string, names []string) {
	rest, ok := strings.CutPrefix(string(key), s.prefix)
	if !ok {
		return "", nil
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		name, err := url.PathUnescape(p)
		if err != nil {
			return "", nil
		}
		parts[i] = name
	}
	return parts[0], parts[1:]
}
