package wire

// HeaderLen is the length of a packet's header: three bytes of payload length, one of sequence number.
const HeaderLen = 4

// MaxPacket is the longest payload of one packet. A longer one goes on in further packets; a payload
// that is a multiple of MaxPacket ends with an empty packet.
const MaxPacket = 1<<24 - 1

// PutHeader writes the header of a packet with a payload of length bytes to b, which must hold HeaderLen bytes.
func PutHeader(b []byte, length int, seq byte) {
	_ = b[3]
	b[0] = byte(length)
	b[1] = byte(length >> 8)
	b[2] = byte(length >> 16)
	b[3] = seq
}

// Header reads the header in the first HeaderLen bytes of b.
func Header(b []byte) (length int, seq byte) {
	_ = b[3]
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16, b[3]
}

// AppendPacket appends payload as one packet, or several when it is MaxPacket or longer. *seq is the number
// of the first one and afterwards the number that comes next.
func AppendPacket(dst []byte, seq *byte, payload []byte) []byte {
	for {
		n := min(len(payload), MaxPacket)
		dst = append(dst, byte(n), byte(n>>8), byte(n>>16), *seq)
		*seq++
		dst = append(dst, payload[:n]...)
		payload = payload[n:]
		if n < MaxPacket {
			return dst
		}
	}
}

// AppendCommand appends the packets of a command.
func AppendCommand(dst []byte, cmd Command, body []byte) []byte {
	var seq byte
	dst, start := BeginPacket(dst)
	return EndPacket(append(append(dst, byte(cmd)), body...), start, &seq)
}

// BeginPacket reserves room for a header in dst and returns where it starts, for EndPacket. Between the two the
// caller appends the payload, which so is built in place instead of being copied.
func BeginPacket(dst []byte) (out []byte, start int) {
	return append(dst, 0, 0, 0, 0), len(dst)
}

// EndPacket writes the header of the packet BeginPacket began at start and whose payload is the rest of dst.
// A payload of MaxPacket or more is split, which moves its bytes.
func EndPacket(dst []byte, start int, seq *byte) []byte {
	n := len(dst) - start - HeaderLen
	if n < MaxPacket {
		PutHeader(dst[start:], n, *seq)
		*seq++
		return dst
	}
	payload := append([]byte(nil), dst[start+HeaderLen:]...)
	return AppendPacket(dst[:start], seq, payload)
}

// NextSeq is the sequence number that follows the last packet of a command.
func NextSeq(command []byte) byte {
	for len(command) > HeaderLen+MaxPacket {
		command = command[HeaderLen+MaxPacket:]
	}
	if len(command) < HeaderLen {
		return 1
	}
	return command[HeaderLen-1] + 1
}
