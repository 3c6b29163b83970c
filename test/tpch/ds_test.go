package tpch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDS runs 99 queries that ask what those of TPC-DS ask on one server and on a cluster with the same small data, and compares.
// Sales of the stores and of the web are sharded by ticket and order, those of the catalogue and the inventory by item, as items are:
// some joins of sales stay within a node group, others do not. Customers, their addresses and their demographics are sharded, too.
func TestDS(t *testing.T) {
	a, b := load(t, "tpcds", "ds_schema.sql", dsRows(900))
	table, numbers := run(t, a, b, "ds_queries.sql", "DS")
	t.Log("\n" + table)
	var all []string
	for i := range 99 {
		all = append(all, fmt.Sprintf("DS%d", i+1))
	}
	require.Equal(t, all, numbers)
	if *coverage && !t.Failed() {
		writeCoverage(t, "tpcds", table)
	}
}

// place is where stores, warehouses and customers are; they share few, so that some customers live beside their store.
type place struct{ city, county, state, zip, offset string }

// line is the amounts of one line of a sale.
type line struct {
	quantity                                                                     int
	wholesale, list, price, discount, sales, cost, listed, tax, coupon, shipping cents
}

// cents are an amount of money.
type cents int

// String is the amount as SQL has it.
func (c cents) String() string {
	if c < 0 {
		return "-" + (-c).String()
	}
	return fmt.Sprintf("%d.%02d", c/100, c%100)
}

// dsRows are INSERT statements of rows for the tables of TPC-DS, always the same. Customers come so many times: mostly
// to a store, often to the catalogue or the web as well, on the same day and for some of the same items; now and then they bring
// an item back, and some of these buy it from the catalogue later. Uniform sales would leave such queries without rows.
func dsRows(visits int) []string {
	const days, items, customers, addresses, demographics, households = 3 * 365, 200, 300, 150, 280, 120
	first := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	const firstDay = 2451180
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	// some is a key of a row, or none: a few rows of every table do not say.
	some := func(n int) any {
		if r.IntN(25) == 0 {
			return nil
		}
		return 1 + r.IntN(n)
	}
	dollars := func(low, high int) cents { return cents(low*100 + r.IntN((high-low)*100)) }
	var rows inserts

	for i := range days + 1 {
		d := first.AddDate(0, 0, i)
		quarter := (int(d.Month()) + 2) / 3
		rows.add("date_dim", firstDay+i, d.Format(time.DateOnly), (d.Year()-1900)*12+int(d.Month())-1, 5100+(i+5)/7, d.Year(), quarter, int(d.Month()), d.Day(),
			int(d.Weekday()), d.Weekday().String(), fmt.Sprintf("%dQ%d", d.Year(), quarter))
	}
	for i := range 24 * 4 {
		hour := i / 4
		var meal any
		switch {
		case hour >= 6 && hour < 9:
			meal = "breakfast"
		case hour >= 11 && hour < 14:
			meal = "lunch"
		case hour >= 17 && hour < 21:
			meal = "dinner"
		}
		rows.add("time_dim", i*900, i*900, hour, i%4*15, meal)
	}
	var places []place
	for i := range 12 {
		places = append(places, place{
			city: strings.Fields("Fairview Midway Oakland Salem Union Riverside")[i%6], county: strings.Fields("Walker Ziebach Barrow Daviess")[i%4] + " County",
			state: strings.Fields("TN GA TX OH SD CA")[i%6], zip: fmt.Sprint(30169 + 4211*(i%10)), offset: []string{"-5.00", "-6.00", "-8.00"}[i%3],
		})
	}
	street := func() (number, name, kind, suite string) {
		return fmt.Sprint(1 + r.IntN(999)), pick("Oak", "Main", "First", "Lake") + " " + pick("Hill", "Park", "Elm"), pick("Street", "Avenue", "Court"), fmt.Sprintf("Suite %d", r.IntN(50)*10)
	}
	const stores, centers, sites, pages, warehouses, modes, reasons, bands, promotions, sheets = 8, 4, 4, 10, 4, 8, 6, 10, 20, 30
	for i := range stores {
		p := places[i]
		number, name, kind, suite := street()
		rows.add("store", i+1, fmt.Sprintf("STORE%04d", i/2), []string{"able", "ought", "ese", "bar"}[i%4], 200+r.IntN(100), 1+i%4, 1, "Unknown", number, name, kind, suite,
			p.city, p.county, p.state, p.zip, p.offset)
	}
	for i := range centers {
		rows.add("call_center", i+1, fmt.Sprintf("CENTER%04d", i), []string{"NY Metro", "Mid Atlantic", "California", "Hawaii"}[i], pick("Bob", "Felipe", "Mark")+" "+pick("Belcher", "Perkins"), places[i].county)
	}
	for i := range sites {
		rows.add("web_site", i+1, fmt.Sprintf("SITE%04d", i), fmt.Sprintf("site_%d", i/2), []string{"pri", "able"}[i%2])
	}
	for i := range pages {
		rows.add("web_page", i+1, 4000+i*300)
	}
	for i := range warehouses {
		p := places[i]
		rows.add("warehouse", i+1, []string{"Conventional childr", "Important issues liv", "Doors canno", "Bad cards must make"}[i], 100000+r.IntN(900000), p.city, p.county, p.state, "United States")
	}
	for i := range modes {
		rows.add("ship_mode", i+1, []string{"EXPRESS", "OVERNIGHT", "REGULAR", "LIBRARY"}[i%4], []string{"DHL", "BARIAN", "UPS", "FEDEX"}[i/2])
	}
	for i := range reasons {
		rows.add("reason", i+1, fmt.Sprintf("reason %d", i+1))
	}
	for i := range bands {
		rows.add("income_band", i+1, i*10000, i*10000+10000)
	}
	for i := range promotions {
		rows.add("promotion", i+1, pick("Y", "N"), pick("Y", "N"), pick("Y", "N"), pick("N", "N", "Y"))
	}
	for i := range households {
		rows.add("household_demographics", i+1, 1+i%bands, []string{"0-500", "501-1000", "1001-5000", "5001-10000", ">10000", "Unknown"}[i%6], i/6%10, r.IntN(6)-1)
	}
	for i := range demographics {
		rows.add("customer_demographics", i+1, []string{"M", "F"}[i%2], []string{"S", "M", "D", "W", "U"}[i/2%5],
			[]string{"Primary", "Secondary", "College", "2 yr Degree", "4 yr Degree", "Advanced Degree", "Unknown"}[i/10%7],
			500+r.IntN(8)*500, pick("Good", "High Risk", "Low Risk"), r.IntN(4), r.IntN(4), r.IntN(4))
	}
	for i := range addresses {
		number, name, kind, suite := street()
		p := places[r.IntN(len(places))]
		rows.add("customer_address", i+1, number, name, kind, suite, p.city, p.county, p.state, p.zip, "United States", p.offset, pick("single family", "condo", "apartment"))
	}
	for i := range customers {
		given, family := pick("James", "Mary", "Anna", "Robert", "Linda"), pick("Smith", "Jones", "Brown", "Davis", "Moore", "Clark")
		rows.add("customer", i+1, fmt.Sprintf("CUSTOMER%08d", i+1), some(demographics), some(households), 1+r.IntN(addresses), firstDay+r.IntN(days), firstDay+r.IntN(days),
			pick("Mr.", "Mrs.", "Dr."), given, family, pick("Y", "N"), 1+r.IntN(28), 1+r.IntN(12), 1930+r.IntN(60), pick("CANADA", "PERU", "KENYA", "JAPAN"), nil,
			fmt.Sprintf("%s.%s%d@example.com", given, family, i), firstDay+r.IntN(days))
	}
	for i := range items {
		category := i % 6
		class := i / 6 % 3
		brand := class*2 + r.IntN(2)
		price := dollars(1, 100)
		manufacturer := 1 + r.IntN(20)
		rows.add("item", i+1, fmt.Sprintf("ITEM%08d", i/2), pick("Good", "Plain", "Rare")+" "+pick("things", "goods")+fmt.Sprint(" ", i), price, price*7/10, category*100+brand, fmt.Sprintf("brand #%d.%d", category, brand),
			class+1, []string{"classic", "modern", "estate"}[class], category+1, []string{"Books", "Electronics", "Home", "Jewelry", "Music", "Sports"}[category], manufacturer, fmt.Sprintf("maker %d", manufacturer),
			pick("small", "medium", "large", "petite", "N/A"), pick("red", "blue", "orchid", "peach", "snow", "navy"), pick("Each", "Dozen", "Case", "Oz"), 1+r.IntN(10), fmt.Sprintf("product %d", i))
	}
	for i := range sheets {
		rows.add("catalog_page", i+1, fmt.Sprintf("PAGE%04d", i))
	}
	for day := 365; day < 2*365; day += 7 {
		for item := 5; item <= items; item += 5 {
			for w := range warehouses - 1 {
				quantity := r.IntN(60)
				if r.IntN(4) == 0 {
					quantity += 500
				}
				// Inventories are taken on the first day of a week of date_dim.
				rows.add("inventory", firstDay+day+1, item, w+1, quantity)
			}
		}
	}

	amounts := func() line {
		l := line{quantity: 1 + r.IntN(80), wholesale: dollars(1, 100)}
		l.list = l.wholesale * cents(100+r.IntN(200)) / 100
		l.price = l.list * cents(r.IntN(101)) / 100
		q := cents(l.quantity)
		l.discount, l.sales, l.cost, l.listed = (l.list-l.price)*q, l.price*q, l.wholesale*q, l.list*q
		if r.IntN(5) == 0 {
			l.coupon = l.sales * cents(r.IntN(80)) / 100
		}
		l.tax, l.shipping = (l.sales-l.coupon)*8/100, l.listed*cents(r.IntN(40))/100
		return l
	}
	clock := func() any { return r.IntN(24*4) * 900 }
	// basket is some items, each of them once: of those given before, and others.
	basket := func(before []int) (chosen []int) {
		has := map[int]bool{}
		for range 1 + r.IntN(6) {
			item := 1 + r.IntN(items)
			if len(before) > 0 && r.IntN(2) == 0 {
				item = before[r.IntN(len(before))]
			}
			if !has[item] {
				has[item] = true
				chosen = append(chosen, item)
			}
		}
		return chosen
	}
	returned := func() bool { return r.IntN(4) == 0 }
	orders := 0
	catalog := func(day, customer int, chosen []int) {
		orders++
		at, shipTo, household, address, center := clock(), 1+r.IntN(customers), some(households), some(addresses), some(centers)
		demographic := some(demographics)
		for _, item := range chosen {
			l, page := amounts(), 1+r.IntN(sheets)
			paid := l.sales - l.coupon
			rows.add("catalog_sales", firstDay+day, at, firstDay+day+1+r.IntN(130), customer, demographic, household, address, shipTo, some(addresses), center, page, some(modes), some(warehouses), item, some(promotions),
				orders, l.quantity, l.wholesale, l.list, l.price, l.discount, l.sales, l.cost, l.listed, l.coupon, l.shipping, paid, paid+l.tax, paid-l.cost)
			if returned() {
				n := 1 + r.IntN(l.quantity)
				amount := l.price * cents(n)
				rows.add("catalog_returns", firstDay+day+r.IntN(90), item, customer, 1+r.IntN(addresses), center, page, orders, n, amount, amount*108/100, amount/2, amount/4, amount/4, l.shipping/2+500)
			}
		}
	}
	web := func(day, customer int, chosen []int) {
		orders++
		at, household, page, site, address := clock(), some(households), some(pages), 1+r.IntN(sites), 1+r.IntN(addresses)
		for _, item := range chosen {
			l := amounts()
			paid := l.sales - l.coupon
			rows.add("web_sales", firstDay+day, at, firstDay+day+1+r.IntN(130), item, customer, address, some(customers), some(addresses), household, page, site, some(modes), some(warehouses), some(promotions),
				orders, l.quantity, l.wholesale, l.list, l.price, l.discount, l.sales, l.cost, l.listed, l.shipping, paid, paid-l.cost)
			if returned() {
				n := 1 + r.IntN(l.quantity)
				amount, demographic := l.price*cents(n), 1+r.IntN(demographics)
				rows.add("web_returns", firstDay+day+r.IntN(90), item, demographic, address, customer, demographic, address, page, 1+r.IntN(reasons), orders, n, amount, dollars(0, 100), amount/2, l.shipping/2+500)
			}
		}
	}
	shop := func(day, customer, ticket int, chosen []int) {
		at, address, in := clock(), some(addresses), some(stores)
		demographic, household := some(demographics), some(households)
		for _, item := range chosen {
			l := amounts()
			paid := l.sales - l.coupon
			rows.add("store_sales", firstDay+day, at, item, customer, demographic, household, address, in, some(promotions), ticket,
				l.quantity, l.wholesale, l.list, l.price, l.discount, l.sales, l.cost, l.listed, l.tax, l.coupon, paid, paid+l.tax, paid-l.cost)
			if returned() {
				n, later := 1+r.IntN(l.quantity), day+r.IntN(150)
				rows.add("store_returns", firstDay+later, item, customer, demographic, in, some(reasons), ticket, n, l.price*cents(n), l.price*cents(n)/10+500)
				if r.IntN(2) == 0 {
					catalog(later+r.IntN(60), customer, basket([]int{item}))
				}
			}
		}
	}
	for i := range visits {
		// Half of all customers come again and again.
		day, customer := r.IntN(days), 1+r.IntN(customers)
		if r.IntN(2) == 0 {
			customer = 1 + customer/10
		}
		chosen := basket(nil)
		if r.IntN(8) != 0 {
			shop(day, customer, i+1, chosen)
		}
		if r.IntN(2) == 0 {
			catalog(day, customer, basket(chosen))
		}
		if r.IntN(2) == 0 {
			web(day, customer, basket(chosen))
		}
	}
	return rows.statements()
}
