package socket

// KeepMany lets l take its sessions for many, which leave what they write to be sent, until it has counted them anew: when they have
// been resumed 64 times.
func KeepMany(l *Loop) { l.post(func() { l.few, l.events = false, 0 }) }
