package backend

import (
	"slices"

	"skarv/pkg/paramtype"
	"skarv/pkg/wire"
)

// suits reports whether values of types meet p as they would meet a statement that has just been prepared.
func (p *Prepared) suits(types []wire.ParamType) bool {
	if p.taken(types) {
		return p.types == nil
	}
	return !p.plain && p.types == nil || slices.Equal(p.types, types)
}

// taken reports whether values of types do not make a server prepare the statement again.
func (p *Prepared) taken(types []wire.ParamType) bool {
	if len(p.Params) != len(types) {
		return true
	}
	for i := range types {
		if !paramtype.Takes(paramtype.Asked(&p.Params[i]), types[i]) {
			return false
		}
	}
	return true
}

// retyped reports whether a server may ask for others than p.Params once p has run with values of types.
func (p *Prepared) retyped(types []wire.ParamType) bool {
	for i := range p.Params {
		if i < len(types) && paramtype.Retypes(paramtype.Asked(&p.Params[i]), types[i]) {
			return true
		}
	}
	return false
}
