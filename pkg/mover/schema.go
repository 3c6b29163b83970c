package mover

// What the mover keeps on the servers, all in the database _skarv. A reader of the binary log knows the mover's transactions by
// their row of reorg_pos.
//
//	source  wm          the watermarks: one row for each reorganisation, overwritten with every mark
//	        late_write  changes of moved rows after the cut: lost writes
//	both    journal     cut (source), open (target), cancel, published (source)
//	        reorg_pos   target: how far the source's log is applied, and who applies it; where rows are deleted: who does
//	target  reorg_copy  how far each table is copied
//
// All are changed in the transaction of the rows they speak of.
const (
	wmTable    = "wm"
	posTable   = "reorg_pos"
	journalTab = "journal"
)

func schema() []string {
	const key = " VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
	return []string{
		"CREATE DATABASE IF NOT EXISTS `_skarv` CHARACTER SET utf8mb4",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`wm` (reorg" + key + ", source INT UNSIGNED NOT NULL, run" + key +
			", seq BIGINT UNSIGNED NOT NULL, kind" + key + ", PRIMARY KEY (reorg, source)) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`journal` (reorg" + key + ", source INT UNSIGNED NOT NULL, epoch BIGINT UNSIGNED NOT NULL, kind" +
			key + ", at DATETIME(6) NOT NULL, PRIMARY KEY (reorg, source, epoch, kind)) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`reorg_pos` (reorg" + key + ", source INT UNSIGNED NOT NULL, owner BIGINT UNSIGNED NOT NULL, " +
			"state" + key + ", applied LONGTEXT CHARACTER SET ascii NOT NULL, reread LONGTEXT CHARACTER SET ascii NOT NULL, " +
			"xa LONGTEXT CHARACTER SET ascii NOT NULL, step BIGINT UNSIGNED NOT NULL, PRIMARY KEY (reorg, source)) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`reorg_copy` (reorg" + key + ", source INT UNSIGNED NOT NULL, " +
			"tbl VARCHAR(260) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, chunk BIGINT UNSIGNED NOT NULL, last LONGBLOB NOT NULL, " +
			"done TINYINT NOT NULL, row_count BIGINT UNSIGNED NOT NULL, byte_count BIGINT UNSIGNED NOT NULL, " +
			"PRIMARY KEY (reorg, source, tbl)) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`late_write` (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, reorg" + key +
			", source INT UNSIGNED NOT NULL, gtid" + key + ", tbl VARCHAR(260) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, " +
			"part SMALLINT UNSIGNED NOT NULL, row_key LONGBLOB NOT NULL, at DATETIME(6) NOT NULL) ENGINE=InnoDB",
	}
}

// What journal's rows say.
const (
	journalCut       = "cut"
	journalOpen      = "open"
	journalCancel    = "cancel"
	journalPublished = "published"
)

// States of a row of reorg_pos.
const (
	stateFresh  = "fresh"  // nothing is known of the source's log yet
	stateActive = "active" // applied counts
	stateClean  = "clean"  // it only marks what is deleted
	stateOver   = "over"   // nobody may work on the move any more; step is the time of the server when that was said
)
