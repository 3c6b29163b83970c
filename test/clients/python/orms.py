"""What object-relational mappers do, on the server given as HOST PORT: Django with the tables of its own applications, whose
migrations create a foreign key for every relation, and SQLAlchemy. Prints a line for each step; exits with 1 at a failure."""

import datetime
import sys

import pymysql

HOST, PORT = sys.argv[1], int(sys.argv[2])


def step(name):
    def run(check):
        check()
        print(f"{name}: ok", flush=True)
    return run


def same(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def refused(call, error):
    try:
        call()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def database(name):
    c = pymysql.connect(host=HOST, port=PORT, user="root")
    cur = c.cursor()
    cur.execute(f"DROP DATABASE IF EXISTS {name}")
    cur.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    c.close()


def django_orm():
    database("orm_django")
    pymysql.version_info = (2, 2, 7, "final", 0)  # what Django asks mysqlclient for
    pymysql.install_as_MySQLdb()
    import types

    import django
    from django.apps import AppConfig
    from django.conf import settings

    class Shop(AppConfig):
        name, path = "shop", "."

    sys.modules["shop"] = types.ModuleType("shop")
    sys.modules["shop"].Shop = Shop
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": "orm_django", "USER": "root", "HOST": HOST, "PORT": PORT}},
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.admin", "shop.Shop"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True, SECRET_KEY="x",
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    )
    django.setup()
    from django.contrib.auth.models import Group, Permission, User
    from django.core.management import call_command
    from django.db import IntegrityError, connection, models, transaction

    class Author(models.Model):
        email = models.EmailField(unique=True)
        name = models.CharField(max_length=50)

        class Meta:
            app_label = "shop"

    class Book(models.Model):
        title = models.CharField(max_length=50)
        isbn = models.CharField(max_length=20, unique=True)
        pages = models.IntegerField(default=100)
        author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="books")
        editor = models.ForeignKey(Author, on_delete=models.SET_NULL, null=True, related_name="edited")
        sequel_of = models.ForeignKey("self", on_delete=models.CASCADE, null=True)
        readers = models.ManyToManyField(User)

        class Meta:
            app_label = "shop"
            unique_together = [("author", "title")]

    @step("Django: migrate")
    def _():
        call_command("migrate", verbosity=0, run_syncdb=False)

    @step("Django: create tables")
    def _():
        with connection.schema_editor() as editor:
            editor.create_model(Author)
            editor.create_model(Book)
        with connection.cursor() as cur:
            same(len(connection.introspection.get_relations(cur, "shop_book")), 3)

    @step("Django: users, groups, permissions")
    def _():
        for i in range(20):
            User.objects.create_user(f"user{i}", f"user{i}@example.org", "secret", is_staff=i % 2 == 0)
        refused(lambda: User.objects.create_user("user3"), IntegrityError)
        g = Group.objects.create(name="editors")
        g.permissions.set(Permission.objects.filter(codename__startswith="add_"))
        for u in User.objects.filter(is_staff=True):
            u.groups.add(g)
        same(User.objects.filter(groups__name="editors").count(), 10)
        assert User.objects.get(username="user4").has_perm("auth.add_user")
        same(User.objects.get(email="user7@example.org").username, "user7")

    @step("Django: objects and relations")
    def _():
        authors = [Author.objects.create(email=f"a{i}@example.org", name=f"A{i}") for i in range(8)]
        with transaction.atomic():
            for i in range(40):
                b = Book.objects.create(title=f"T{i}", isbn=f"978-{i}", author=authors[i % 8], editor=authors[(i + 1) % 8],
                                        sequel_of=Book.objects.filter(isbn=f"978-{i - 20}").first())
                b.readers.set(User.objects.filter(username__in=[f"user{i % 20}", f"user{(i + 5) % 20}"]))
        same(Book.objects.count(), 40)
        same(Book.objects.select_related("author").filter(author__name="A3").count(), 5)
        same([a.n for a in Author.objects.annotate(n=models.Count("books")).order_by("email")], [5] * 8)
        same(Book.objects.prefetch_related("readers").get(isbn="978-7").readers.count(), 2)
        same(User.objects.filter(book__author__email="a2@example.org").distinct().count(), 10)

    @step("Django: constraints")
    def _():
        first, second = Author.objects.order_by("id")[:2]
        refused(lambda: Book.objects.create(title="T0", isbn="new", author=first), IntegrityError)
        refused(lambda: Book.objects.create(title="new", isbn="978-1", author=first), IntegrityError)
        refused(lambda: Author.objects.create(email=second.email, name="x"), IntegrityError)
        refused(first.delete, models.ProtectedError)

        def orphan():
            with connection.cursor() as cur:
                cur.execute("UPDATE shop_book SET author_id = 99999 WHERE isbn = '978-1'")
        refused(orphan, IntegrityError)

    @step("Django: update, delete")
    def _():
        same(Book.objects.filter(author__name="A1").update(pages=models.F("pages") + 10), 5)
        same(Book.objects.aggregate(s=models.Sum("pages"))["s"], 4050)
        Book.objects.update_or_create(isbn="978-1", defaults={"title": "other"})
        same(Book.objects.get(isbn="978-1").title, "other")
        gone, _ = Book.objects.filter(isbn="978-3").delete()  # its sequel goes with it, and both lists of readers
        same(gone, 6)
        same(Book.objects.count(), 38)
        User.objects.get(username="user0").delete()
        same(Book.objects.filter(readers__username="user0").count(), 0)
        try:
            with transaction.atomic():
                Author.objects.create(email="gone@example.org", name="x")
                raise KeyError
        except KeyError:
            pass
        same(Author.objects.filter(email="gone@example.org").exists(), False)
        same(len(Author.objects.bulk_create([Author(email=f"bulk{i}@example.org", name="b") for i in range(30)])), 30)
        with transaction.atomic():
            same(Author.objects.select_for_update().filter(name="b").count(), 30)
        Author.objects.filter(name="b").delete()


def sqlalchemy_orm():
    database("orm_sqlalchemy")
    import sqlalchemy as sa
    from sqlalchemy import orm
    from sqlalchemy.dialects.mysql import insert

    class Base(orm.DeclarativeBase):
        pass

    class Customer(Base):
        __tablename__ = "customer"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        email: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True)
        orders: orm.Mapped[list["Order"]] = orm.relationship(back_populates="customer", cascade="all, delete-orphan", passive_deletes=True)

    class Order(Base):
        __tablename__ = "orders"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        customer_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("customer.id", ondelete="CASCADE"))
        made: orm.Mapped[datetime.datetime]
        customer: orm.Mapped[Customer] = orm.relationship(back_populates="orders")
        items: orm.Mapped[list["Item"]] = orm.relationship(cascade="all, delete-orphan", passive_deletes=True)

    class Item(Base):
        __tablename__ = "item"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        order_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("orders.id", ondelete="CASCADE"))
        sku: orm.Mapped[str] = orm.mapped_column(sa.String(20))
        count: orm.Mapped[int]

    engine = sa.create_engine(f"mysql+pymysql://root@{HOST}:{PORT}/orm_sqlalchemy")

    @step("SQLAlchemy: create tables, twice")
    def _():
        Base.metadata.create_all(engine)
        Base.metadata.create_all(engine)
        same(len(sa.inspect(engine).get_foreign_keys("item")), 1)

    @step("SQLAlchemy: objects and relations")
    def _():
        with orm.Session(engine) as s:
            for i in range(10):
                s.add(Customer(email=f"c{i}@example.org", orders=[
                    Order(made=datetime.datetime(2024, 1, 1 + n), items=[Item(sku=f"s{n}", count=i) for _ in range(2)]) for n in range(3)]))
            s.commit()
            same(s.scalar(sa.select(sa.func.count()).select_from(Item)), 60)
            c = s.scalar(sa.select(Customer).where(Customer.email == "c4@example.org").options(orm.selectinload(Customer.orders).joinedload(Order.items)))
            same(sum(i.count for o in c.orders for i in o.items), 24)
            rows = s.execute(sa.select(Customer.email, sa.func.sum(Item.count)).join(Customer.orders).join(Order.items)
                             .group_by(Customer.email).order_by(Customer.email)).all()
            same([r[1] for r in rows], [6 * i for i in range(10)])

    @step("SQLAlchemy: update, delete, savepoints")
    def _():
        with orm.Session(engine) as s:
            c = s.scalar(sa.select(Customer).where(Customer.email == "c2@example.org"))
            c.orders.pop()
            c.email = "moved@example.org"
            s.commit()
            same(s.scalar(sa.select(sa.func.count()).select_from(Item)), 58)
            s.delete(c)  # its orders and their items go with it
            s.commit()
            same(s.scalar(sa.select(sa.func.count()).select_from(Item)), 54)
            s.add(Customer(email="kept@example.org"))
            s.flush()
            try:
                with s.begin_nested():
                    s.add(Customer(email="c3@example.org"))
                    s.flush()
                raise AssertionError("a duplicate")
            except sa.exc.IntegrityError:
                pass
            s.commit()
            same(s.scalar(sa.select(sa.func.count()).select_from(Customer)), 10)
            s.execute(insert(Customer).values(email="c3@example.org").on_duplicate_key_update(email="c3b@example.org"))
            s.commit()
            same(s.scalar(sa.select(Customer.email).where(Customer.email == "c3b@example.org")), "c3b@example.org")
            refused(lambda: s.execute(sa.insert(Order).values(customer_id=99999, made=datetime.datetime(2024, 1, 1))), sa.exc.IntegrityError)
            s.rollback()

    Base.metadata.drop_all(engine)


django_orm()
sqlalchemy_orm()
