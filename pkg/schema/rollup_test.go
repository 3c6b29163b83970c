package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutRollupItems(t *testing.T) {
	for text, want := range map[string]string{
		"select `a`.`g` AS `g` from `a`": "select `a`.`g` AS `g` from `a`",
		"select rollup_group_item(`c`.`a`.`g`,0) AS `g`,rollup_sum_switcher(sum(`c`.`a`.`n`)) AS `s` from `c`.`a` group by `c`.`a`.`g` with rollup": "select `c`.`a`.`g` AS `g`,sum(`c`.`a`.`n`) AS `s` from `c`.`a` group by `c`.`a`.`g` with rollup",
		"select concat(rollup_group_item(if(`x`,1,2),1),',)') AS `c` from `a`":                                                                      "select concat(if(`x`,1,2),',)') AS `c` from `a`",
		"select rollup_group_item(rollup_group_item(`x`,0) + 1,1) from `a`":                                                                         "select `x` + 1 from `a`",
	} {
		require.Equal(t, want, withoutRollupItems(text))
	}
}
