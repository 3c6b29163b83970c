// Package wire is the MySQL client/server protocol as bytes: it turns packets into structs and structs into
// packets, and follows the answer to a command without decoding it. It opens no sockets, keeps no connection
// state beyond what a caller hands it and decides nothing: no policy, no limits on what a client may ask.
//
// One file holds one kind of packet, its Append and its Parse side by side. Append functions write the payload
// only; AppendPacket puts the header before it. What Parse functions return points into the payload it was given and is
// valid as long as that is. Everything here may be handed bytes from a hostile peer: nothing panics, nothing reads past the
// payload, nothing allocates in proportion to a number it read.
package wire

import "skarv/pkg/sqlerr"

// malformed is what every Parse function returns for bytes the protocol does not allow; what names the packet.
func malformed(what string) error {
	e := sqlerr.MalformedPacket.New()
	e.Message = "Malformed communication packet: " + what
	return e
}
