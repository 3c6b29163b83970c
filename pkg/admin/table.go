package admin

import (
	"context"
	"fmt"
	"hash/crc32"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	adminv1 "skarv/proto/admin/v1"
)

// Tables implements the API.
func (a *Server) Tables(_ context.Context, req *adminv1.TablesRequest) (*adminv1.TablesResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if db := req.GetDatabase(); db != "" && snap.Databases[db] == nil {
		return nil, status.Errorf(codes.NotFound, "there is no database %s", db)
	}
	out := &adminv1.TablesResponse{}
	for _, t := range snap.Tables() {
		if req.GetDatabase() == "" || req.GetDatabase() == t.Database {
			out.Tables = append(out.Tables, fromTable(t))
		}
	}
	return out, nil
}

func fromTable(t *catalog.Table) *adminv1.Table {
	out := &adminv1.Table{Database: t.Database, Name: t.Name, Kind: string(t.Kind), NodeGroup: uint32(t.Group), HiddenKey: t.HiddenKey}
	for _, c := range t.Distribution {
		out.Distribution = append(out.Distribution, t.Columns[c].Name)
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Name+" "+c.ColumnType)
	}
	if t.AutoIncrement >= 0 {
		out.AutoIncrement = t.Columns[t.AutoIncrement].Name
	}
	return out
}

// Route implements the API.
func (a *Server) Route(_ context.Context, req *adminv1.RouteRequest) (*adminv1.RouteResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	db, name, ok := strings.Cut(req.GetTable(), ".")
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "say which database: DB.%s", req.GetTable())
	}
	t := snap.Table(db, name)
	if t == nil {
		return nil, status.Errorf(codes.NotFound, "there is no table %s; skarvctl tables lists them", req.GetTable())
	}
	out := &adminv1.RouteResponse{}
	why := func(format string, args ...any) { out.Why = append(out.Why, fmt.Sprintf(format, args...)) }
	switch t.Kind {
	case catalog.Reference:
		why("%s is a reference table: every node group has all its rows", req.GetTable())
		return out, nil
	case catalog.View:
		why("%s is a view: its rows live where those of its tables do", req.GetTable())
		return out, nil
	case catalog.Single:
		out.Exact = true
		why("%s is a single table: all its rows are on node group %d", req.GetTable(), t.Group)
		a.owner(snap, t.Group, out)
		return out, nil
	}
	var columns []string
	for _, c := range t.Distribution {
		columns = append(columns, t.Columns[c].Name)
	}
	why("%s is distributed by (%s)", req.GetTable(), strings.Join(columns, ", "))
	if len(req.GetKey()) != len(columns) {
		return nil, status.Errorf(codes.InvalidArgument, "the distribution key of %s is (%s): give a value for each of its columns, in this order",
			req.GetTable(), strings.Join(columns, ", "))
	}
	if snap.Map == nil || t.Key == nil {
		return nil, status.Error(codes.FailedPrecondition, "the partition map or the table's key could not be read")
	}
	values := make([]sqltypes.Value, len(columns))
	for i, k := range req.GetKey() {
		values[i] = sqltypes.Value{Kind: sqltypes.String, Raw: []byte(k)}
	}
	p, text, match := t.Key.Partition(nil, values, placement.Compare)
	switch match {
	case placement.None:
		why("no row can have this key: the value does not fit the column's type")
	case placement.Unknown:
		why("where a row with this key lives cannot be told from the value as given: all node groups would be asked")
	default:
		out.Exact, out.Partition = true, uint32(p)
		why("its canonical text is %q, CRC32 of it is %d, modulo %d that is partition %d", text, crc32.ChecksumIEEE(text), placement.Partitions, p)
		g := snap.Map.Owner(p)
		why("partition %d belongs to node group %d in the map of epoch %d", p, g, snap.Map.Epoch())
		a.owner(snap, g, out)
	}
	return out, nil
}

func (a *Server) owner(snap *catalog.Snapshot, id placement.NodeGroupID, out *adminv1.RouteResponse) {
	out.NodeGroup = uint32(id)
	if g := snap.Group(id); g != nil {
		out.NodeGroupName, out.Addr = g.Label(), g.Primary.Addr
	}
}

// ExecuteDDL implements the API.
func (a *Server) ExecuteDDL(ctx context.Context, req *adminv1.ExecuteDDLRequest) (*adminv1.ExecuteDDLResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	res, err := a.cfg.Client.DDL(ctx, control.DDLRequest{
		SQL: req.GetSql(), User: "skarvctl", Session: schema.Session{
			DB: req.GetDatabase(), SQLMode: req.GetSqlMode(), Charset: req.GetCharset(), Collation: req.GetCollation(), Set: req.GetSession(),
		},
	})
	out := &adminv1.ExecuteDDLResponse{AffectedRows: res.Affected}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, &adminv1.Warning{Level: w.Level, Code: uint32(w.Code), Message: w.Message})
	}
	if err != nil {
		e := sqlerr.From(err)
		out.Error = &adminv1.SQLError{Code: uint32(e.Code), State: e.State, Message: e.Message}
	}
	return out, nil
}
