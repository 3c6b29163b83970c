package console

import (
	"fmt"
	"html/template"
	"strconv"

	"skarv/pkg/placement"
)

// The picture of the partition map has this many columns; 3840 partitions fill 30 rows.
const (
	mapColumns = 128
	mapRows    = placement.Partitions / mapColumns
)

// Colour is the colour of a node group in every picture, as CSS writes it: neighbours in id are far apart in hue.
func (g NodeGroup) Colour() template.CSS { return colour(placement.NodeGroupID(g.ID)) }

func colour(g placement.NodeGroupID) template.CSS {
	const goldenAngle = 137.508
	return template.CSS(fmt.Sprintf("hsl(%.0fdeg 60%% 55%%)", float64(g-1)*goldenAngle))
}

// Picture draws who owns each partition, one cell each in the order of their numbers, as an SVG of one path per node
// group. Partitions on the move have a dark line; frozen ones a red one. It is empty without a map.
func (s Status) Picture() template.HTML {
	if s.Map == nil {
		return ""
	}
	svg := fmt.Appendf(nil, `<svg viewBox="0 0 %d %d" role="img" aria-label="owner of each partition" shape-rendering="crispEdges">`,
		mapColumns, mapRows)
	for _, g := range s.Map.Groups() {
		svg = fmt.Appendf(svg, `<path stroke="%s" d="`, colour(g))
		svg = appendCells(svg, s.Map.Owned(g), 0.5)
		svg = append(svg, `"/>`...)
	}
	for _, m := range s.Map.Moving() {
		class := "moving"
		if m.Phase == placement.Frozen {
			class = "frozen"
		}
		svg = fmt.Appendf(svg, `<path class="%s" d="`, class)
		svg = appendCells(svg, m.Partitions.Members(), 0.8)
		svg = append(svg, `"/>`...)
	}
	return template.HTML(append(svg, `</svg>`...))
}

// appendCells appends the path that goes through the cells of ascending partitions, at a height within the cell.
func appendCells(dst []byte, partitions []placement.Partition, height float64) []byte {
	for i := 0; i < len(partitions); {
		first, n := partitions[i], 1
		for i+n < len(partitions) && partitions[i+n] == first+placement.Partition(n) && (int(first)%mapColumns)+n < mapColumns {
			n++
		}
		dst = append(dst, 'M')
		dst = strconv.AppendInt(dst, int64(first%mapColumns), 10)
		dst = append(dst, ' ')
		dst = strconv.AppendFloat(dst, float64(first/mapColumns)+height, 'f', 1, 64)
		dst = append(dst, 'h')
		dst = strconv.AppendInt(dst, int64(n), 10)
		i += n
	}
	return dst
}
