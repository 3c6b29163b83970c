package main

import (
	"fmt"
	"math"
	"strings"
)

// curve is one line of a picture.
type curve struct {
	name   string
	color  string
	points [][2]float64
}

// axes is a picture's frame; both scales are logarithmic if log is set.
type axes struct {
	title, x, y string
	fromX, toX  float64
	fromY, toY  float64
	ticksX      []float64
	ticksY      []float64
	log         bool
	steps       bool // lines are stairs
	formatY     func(float64) string
}

const (
	pictureWidth, pictureHeight          = 860.0, 440.0
	plotLeft, plotTop, plotWidth, plotHt = 80.0, 50.0, 740.0, 320.0
)

func (a axes) place(x, y float64) (px, py float64) {
	if a.log {
		x, y = math.Log(x/a.fromX)/math.Log(a.toX/a.fromX), math.Log(y/a.fromY)/math.Log(a.toY/a.fromY)
	} else {
		x, y = (x-a.fromX)/(a.toX-a.fromX), (y-a.fromY)/(a.toY-a.fromY)
	}
	return plotLeft + x*plotWidth, plotTop + (1-y)*plotHt
}

// draw makes the picture.
func (a axes) draw(curves []curve) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" role="img" aria-labelledby="t">`+"\n",
		pictureWidth, pictureHeight, pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<title id="t">%s</title>`+"\n", a.title)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="10" fill="#ffffff"/>`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<text x="%.0f" y="28" font-size="15" font-weight="600" fill="#1f2328">%s</text>`+"\n", plotLeft, a.title)
	for _, x := range a.ticksX {
		px, _ := a.place(x, a.fromY)
		fmt.Fprintf(&b, `<path d="M%.1f %.1f V%.1f" stroke="#d1d9e0"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#57606a">%g</text>`+"\n",
			px, plotTop, plotTop+plotHt, px, plotTop+plotHt+18, x)
	}
	for _, y := range a.ticksY {
		_, py := a.place(a.fromX, y)
		fmt.Fprintf(&b, `<path d="M%.1f %.1f H%.1f" stroke="#d1d9e0"/><text x="%.1f" y="%.1f" text-anchor="end" fill="#57606a">%s</text>`+"\n",
			plotLeft, py, plotLeft+plotWidth, plotLeft-8, py+4, a.formatY(y))
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#1f2328">%s</text>`+"\n", plotLeft+plotWidth/2, plotTop+plotHt+38, a.x)
	fmt.Fprintf(&b, `<text x="%.1f" y="44" fill="#57606a">%s</text>`+"\n", plotLeft, a.y)
	for i, c := range curves {
		var d strings.Builder
		for j, p := range c.points {
			px, py := a.place(p[0], p[1])
			switch {
			case j == 0:
				fmt.Fprintf(&d, "M%.1f %.1f", px, py)
			case a.steps:
				fmt.Fprintf(&d, " H%.1f V%.1f", px, py)
			default:
				fmt.Fprintf(&d, " L%.1f %.1f", px, py)
			}
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", d.String(), c.color)
		y := plotTop + 18 + 18*float64(i)
		fmt.Fprintf(&b, `<path d="M%.1f %.1f h24" stroke="%s" stroke-width="3"/><text x="%.1f" y="%.1f" fill="#1f2328">%s</text>`+"\n",
			plotLeft+14, y-4, c.color, plotLeft+46, y, c.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func colors() []string { return []string{"#0969da", "#1a7f37", "#cf222e", "#8250df", "#9a6700"} }

func throughputPicture(s service) string {
	a := axes{
		title: "Peak throughput by number of node groups", x: "node groups", y: "times one node group", log: true,
		fromX: 1, toX: 144, fromY: 0.5, toY: 144, ticksX: []float64{1, 2, 4, 8, 16, 32, 64, 144}, ticksY: []float64{0.5, 1, 2, 4, 8, 16, 32, 64, 144},
		formatY: func(v float64) string { return fmt.Sprintf("%g x", v) },
	}
	var curves []curve
	for i, m := range mixes() {
		c := curve{name: m.name, color: colors()[i]}
		one, _ := s.peak(m, 1, enough, assumed())
		for n := 1; n <= 144; n++ {
			here, _ := s.peak(m, n, enough, assumed())
			c.points = append(c.points, [2]float64{float64(n), max(a.fromY, here/one)})
		}
		curves = append(curves, c)
	}
	return a.draw(curves)
}

func spreadPicture(list []spread) string {
	a := axes{
		title: "How much more than its share the fullest node group has", x: "node groups", y: "percent above the mean of 3840 partitions", steps: true,
		fromX: 1, toX: 144, fromY: 0, toY: 4, ticksX: []float64{1, 16, 32, 48, 64, 80, 96, 112, 128, 144}, ticksY: []float64{0, 1, 2, 3, 4},
		formatY: func(v float64) string { return fmt.Sprintf("%g %%", v) },
	}
	c := curve{name: "balanced map", color: colors()[0]}
	for _, s := range list {
		c.points = append(c.points, [2]float64{float64(s.groups), 100 * s.excess()})
	}
	return a.draw([]curve{c})
}
