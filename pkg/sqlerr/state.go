package sqlerr

// StateOf is the SQLSTATE that a server gives the error or warning of a number; "HY000" where it has no own one.
//
// The numbers are those of sql_state.h of MariaDB 10.11 and of performance_schema.events_errors_summary_global_by_error of MySQL 9.7.
func StateOf(number uint16, mariadb bool) string {
	state := stateOfBoth(number)
	switch {
	case state != "":
	case mariadb:
		state = stateOfMariaDB(number)
	default:
		state = stateOfMySQL(number)
	}
	if state == "" {
		return "HY000"
	}
	return state
}

func stateOfBoth(number uint16) string {
	switch number {
	case 1249, 1261, 1262, 1265, 1311, 1642:
		return "01000"
	case 1329, 1643:
		return "02000"
	case 1040, 1251:
		return "08004"
	case 1042, 1043, 1047, 1053, 1080, 1081, 1152, 1153, 1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1189, 1190,
		1218:
		return "08S01"
	case 1312, 1314, 1335, 1336, 1415, 1845, 1846:
		return "0A000"
	case 1645:
		return "0K000"
	case 3004:
		return "0Z002"
	case 1339:
		return "20000"
	case 1222, 1241, 1242:
		return "21000"
	case 1058, 1136:
		return "21S01"
	case 1406:
		return "22001"
	case 1264, 1416, 1690:
		return "22003"
	case 1138, 1263:
		return "22004"
	case 1292, 1367:
		return "22007"
	case 1441:
		return "22008"
	case 1365:
		return "22012"
	case 3020:
		return "2201E"
	case 3037:
		return "22023"
	case 1022, 1048, 1052, 1062, 1169, 1216, 1217, 1451, 1452, 1586, 1761, 1762, 1859:
		return "23000"
	case 1325, 1326:
		return "24000"
	case 1179, 1207:
		return "25000"
	case 1568:
		return "25001"
	case 1792:
		return "25006"
	case 1045, 1698, 1873:
		return "28000"
	case 1303:
		return "2F003"
	case 1321:
		return "2F005"
	case 1758:
		return "35000"
	case 1046:
		return "3D000"
	case 1213:
		return "40001"
	case 1044, 1049, 1055, 1056, 1057, 1059, 1061, 1063, 1064, 1065, 1066, 1067, 1068, 1069, 1070, 1071, 1072, 1073, 1074,
		1075, 1083, 1084, 1090, 1091, 1102, 1103, 1104, 1106, 1107, 1110, 1112, 1113, 1115, 1118, 1120, 1121, 1131, 1132,
		1139, 1140, 1141, 1142, 1143, 1144, 1145, 1147, 1148, 1149, 1162, 1163, 1164, 1166, 1167, 1170, 1171, 1172, 1173,
		1176, 1177, 1178, 1203, 1211, 1226, 1227, 1230, 1231, 1232, 1234, 1235, 1239, 1248, 1250, 1252, 1253, 1280, 1281,
		1286, 1304, 1305, 1308, 1309, 1310, 1313, 1315, 1316, 1318, 1319, 1320, 1322, 1323, 1324, 1327, 1330, 1331, 1332,
		1333, 1337, 1338, 1370, 1403, 1407, 1410, 1413, 1414, 1425, 1426, 1427, 1437, 1439, 1453, 1458, 1460, 1461, 1463,
		1582, 1583, 1584, 1630, 1641, 1687, 1701, 3057:
		return "42000"
	case 1050:
		return "42S01"
	case 1051, 1109, 1146:
		return "42S02"
	case 1082:
		return "42S12"
	case 1060:
		return "42S21"
	case 1054, 1247:
		return "42S22"
	case 1317:
		return "70100"
	case 1037, 1038:
		return "HY001"
	case 1402:
		return "XA100"
	case 1614:
		return "XA102"
	case 1613:
		return "XA106"
	case 1401:
		return "XAE03"
	case 1397:
		return "XAE04"
	case 1398:
		return "XAE05"
	case 1399:
		return "XAE07"
	case 1440:
		return "XAE08"
	case 1400:
		return "XAE09"
	}
	return ""
}

func stateOfMariaDB(number uint16) string {
	switch number {
	case 4029:
		return "01000"
	case 4000:
		return "0A000"
	case 1446, 1960:
		return "0L000"
	case 1916, 1917:
		return "22003"
	case 1366, 1918, 1921, 1978:
		return "22007"
	case 4025:
		return "23000"
	case 1133:
		return "28000"
	case 1970, 1971, 4080, 4159:
		return "42000"
	case 1932, 1965, 4089, 4090, 4091, 4092:
		return "42S02"
	case 1369:
		return "44000"
	case 1927, 1969, 4192:
		return "70100"
	case 1959:
		return "OP000"
	}
	return ""
}

func stateOfMySQL(number uint16) string {
	switch number {
	case 3519, 3565, 3751:
		return "01000"
	case 3713:
		return "01S00"
	case 3715:
		return "01S01"
	case 3068:
		return "08S01"
	case 6006, 6007, 6009, 6412, 6482:
		return "0A000"
	case 3907:
		return "22001"
	case 3155, 3669, 3706, 3752, 3904:
		return "22003"
	case 6527:
		return "22008"
	case 3156, 3903:
		return "22018"
	case 3558, 3559, 3560, 3561, 3562, 3563, 3564, 3727:
		return "22023"
	case 6107:
		return "2202H"
	case 3140, 3141, 3144, 3145, 3146, 3147, 3150, 3151, 3157, 3158, 3853:
		return "22032"
	case 3967:
		return "22034"
	case 3665, 3966:
		return "22035"
	case 3666:
		return "2203F"
	case 3520, 3618, 3682, 3704, 3705, 3726, 3741, 3742, 3743, 3744:
		return "22S00"
	case 3516, 4032:
		return "22S01"
	case 3616, 3731:
		return "22S02"
	case 3617, 3732:
		return "22S03"
	case 4033:
		return "22S04"
	case 4034:
		return "22S05"
	case 1557, 3673:
		return "23000"
	case 6444:
		return "28000"
	case 3101:
		return "40000"
	case 1101, 1133, 3061, 3119, 3131, 3143, 3148, 3149, 3152, 3153, 3154, 3165, 3202, 3630, 3667, 3670, 3753, 3948, 3999,
		4048, 4163, 6562, 6563, 6564, 6565, 6566, 6567, 6568, 6569, 6570, 6571, 6572, 6573, 6574:
		return "42000"
	case 3503:
		return "42Y07"
	case 3714:
		return "SR000"
	case 3521, 3548:
		return "SR001"
	case 3517, 3736, 3737, 3738, 3739, 3740, 4105, 4106, 4107, 4124, 4125, 4126, 4127:
		return "SR002"
	case 3518:
		return "SR003"
	case 3712:
		return "SR004"
	case 3716:
		return "SR005"
	case 3708, 3709, 3710, 3711, 3717, 3718:
		return "SR006"
	case 3882, 3902:
		return "SU001"
	}
	return ""
}
