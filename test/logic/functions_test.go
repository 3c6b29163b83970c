package logic

// call is a call of one of the servers' functions that gives a number, a string or a date, "" of other kinds. What it gives
// depends on its arguments alone; sub makes arguments.
func (g *generator) call(s *scope, k kind, sub func(kind) string) string {
	if g.function.name != "" && g.function.kind == k && g.oneIn(2) {
		return g.function.name + "(" + sub(k) + ")"
	}
	switch k {
	case number:
		return g.pick("JSON_LENGTH("+g.col(s, json, false)+")", "JSON_VALID("+sub(text)+")", "MONTH("+sub(date)+")", "DAYOFWEEK("+sub(date)+")",
			"TO_DAYS("+sub(date)+")", "SIGN("+sub(number)+")", "FIELD("+sub(text)+", 'ann', 'bob', 'e')", "STRCMP("+sub(text)+", 'b')",
			"BIT_COUNT("+sub(number)+")", "("+sub(number)+" > "+sub(number)+")", "("+sub(text)+" IS NULL)", "INTERVAL("+sub(number)+", 1, 3, 5)",
			"EXTRACT(YEAR_MONTH FROM "+sub(date)+")", "TIMESTAMPDIFF(DAY, "+sub(date)+", "+sub(date)+")", "("+sub(number)+" MOD 4)",
			"MINUTE("+g.col(s, clock, false)+")", "HOUR("+g.col(s, moment, false)+")", "("+g.col(s, enum, false)+" + 0)", "("+g.col(s, set, false)+" + 0)")
	case decimal:
		return g.pick("TRUNCATE("+sub(decimal)+", 1)", "CAST("+sub(number)+" AS DECIMAL(10,3))", "ABS("+sub(decimal)+")", "("+sub(decimal)+" + "+sub(number)+")",
			"GREATEST("+sub(decimal)+", "+sub(decimal)+")", "IF("+g.pred(s, 0)+", "+sub(decimal)+", "+sub(decimal)+")", "-"+g.col(s, decimal, false))
	case text:
		return g.pick("JSON_UNQUOTE(JSON_EXTRACT("+g.col(s, json, false)+", '$.a'))", "LPAD("+sub(text)+", 4, 'x')", "REVERSE("+sub(text)+")",
			"REPEAT("+sub(text)+", 2)", "MD5("+sub(text)+")", "CAST("+sub(date)+" AS CHAR)", "SUBSTRING_INDEX("+sub(text)+", 'n', 1)",
			"ELT("+sub(number)+", 'a', 'b', 'c')", "QUOTE("+sub(text)+")", "HEX("+sub(text)+")", "INSERT("+sub(text)+", 1, 1, 'z')",
			"CASE "+sub(number)+" WHEN 1 THEN "+sub(text)+" ELSE 'none' END", "IF("+g.pred(s, 0)+", "+sub(text)+", "+sub(text)+")",
			"DAYNAME("+sub(date)+")", "RTRIM("+sub(text)+")", "CONCAT("+g.col(s, enum, false)+", "+sub(text)+")", "("+sub(text)+" COLLATE utf8mb4_bin)")
	case date:
		return g.pick("LAST_DAY("+sub(date)+")", "DATE("+g.col(s, moment, false)+")", "GREATEST("+sub(date)+", "+sub(date)+")",
			"DATE_SUB("+sub(date)+", INTERVAL 1 MONTH)", "IF("+g.pred(s, 0)+", "+sub(date)+", "+sub(date)+")", "MAKEDATE(2026, 1 + ABS("+g.col(s, number, false)+"))")
	}
	return ""
}

// test is a condition of a form that pred does not make.
func (g *generator) test(s *scope) string {
	n, t := g.col(s, number, false), g.col(s, text, false)
	switch g.r.IntN(9) {
	case 0:
		return t + g.pick(" REGEXP ", " NOT REGEXP ") + g.lit(g.pick("'^a'", "'n+$'", "'[aeb]'"))
	case 1:
		return "JSON_CONTAINS(" + g.col(s, json, false) + ", '1', '$.a')"
	case 2:
		return n + g.pick(" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS UNKNOWN")
	case 3:
		return "(" + g.pred(s, 0) + " XOR " + g.pred(s, 0) + ")"
	case 4:
		return n + " BETWEEN " + g.col(s, number, false) + " AND " + g.col(s, number, false)
	case 5:
		return g.col(s, text, true) + " COLLATE utf8mb4_bin = " + g.value(&column{kind: text}, false)
	case 6:
		return n + " <=> " + g.col(s, number, false)
	case 7:
		return g.col(s, set, true) + g.pick(" = 'a,b'", " = 'b'", " <> 'a'", " IS NOT NULL")
	}
	return "(" + n + ", " + g.col(s, number, false) + ") IN ((1, 2), (3, 3), (" + g.value(&column{}, false) + ", 3))"
}
